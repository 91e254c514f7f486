/**
 * A cluster whose spec names its network creates no network by which two objects of one name, in two management
 * clusters, could know of each other. What it creates has the object's owner in its description instead: each has its
 * own, and neither uses or deletes what is the other's. All other rules know resources by descriptions without an
 * owner; the functions here translate for them, in both directions.
 */
import type { OpenStackCluster } from "@causeway/api";
import {
  adoptAnnotation,
  clusterFinalizer,
  description,
  groupOwner,
  networkOwner,
  ownerAnnotation,
  ownerFor,
  securityGroupDescription,
  withOwner,
} from "../resources/naming.ts";
import type { ClusterContext } from "./model.ts";
import type { ClusterPlan } from "./plan.ts";
import type { ClusterStep } from "./steps.ts";

type Named = Pick<ClusterContext, "object" | "crn">;

/** The owner in descriptions; undefined: they have none, as those of clusters with a network of their own. */
export function givenOwner({ object: { metadata, spec }, crn }: Named): string | undefined {
  return spec.managedSubnets?.length ? undefined : ownerFor(crn, metadata.annotations?.[ownerAnnotation]);
}

/** The description of what the cluster creates, security groups excepted. */
export function descriptionOf(named: Named): string {
  const owner = givenOwner(named);
  return owner === undefined ? description(named.crn) : withOwner(description(named.crn), owner);
}

/** The context in which the object's own resources, and no others, have descriptions without an owner. */
export function ownView(context: ClusterContext): ClusterContext {
  const { cloud, crn, object } = context;
  if (object.spec.managedSubnets?.length) return context;
  const isOwn = ownership(context);
  const plain = description(crn);
  const own = <T extends { readonly id: string; readonly description: string | null }>(resource: T): T => {
    const owner = networkOwner(crn, resource.description);
    if (owner === undefined && resource.description !== plain) return resource;
    return { ...resource, description: isOwn(resource, owner) ? plain : OTHERS };
  };
  const groups = cloud.securityGroups.map((group) => {
    const owner = groupOwner(group.description);
    if (owner === undefined && group.description !== securityGroupDescription) return group;
    return { ...group, description: isOwn(group, owner) ? securityGroupDescription : OTHERS };
  });
  const loadBalancers = cloud.loadBalancing.loadBalancers.map(own);
  return {
    ...context,
    cloud: {
      ...cloud,
      securityGroups: groups,
      // It has the groups with their own descriptions.
      nameIndex: undefined,
      floatingIps: cloud.floatingIps.map(own),
      loadBalancing: { ...cloud.loadBalancing, loadBalancers },
    },
  };
}

/** The plan whose steps create resources with the object's owner in their descriptions. */
export function withOwnDescriptions(planned: ClusterPlan, named: Named): ClusterPlan {
  const owner = givenOwner(named);
  if (owner === undefined) return planned;
  return { ...planned, steps: planned.steps.map((step) => described(step, owner)) };
}

/** A description that no rule knows. */
const OTHERS = "another object's";

function described(step: ClusterStep, owner: string): ClusterStep {
  switch (step.type) {
    case "create-load-balancer":
      return { ...step, body: { ...step.body, description: withOwner(step.body.description ?? "", owner) } };
    case "create-security-group":
      return { ...step, body: { ...step.body, description: withOwner(step.body.description ?? "", owner) } };
    case "create-floating-ip":
      return { ...step, body: { ...step.body, description: withOwner(step.body.description ?? "", owner) } };
    default:
      return step;
  }
}

/**
 * Which of the resources of the cluster's name are the object's: those with its owner. An object without one has those
 * of no owner, as before; before it has created anything, or where it is to adopt resources, all; later also what its
 * status records.
 */
function ownership(context: ClusterContext): (resource: { readonly id: string }, owner?: string) => boolean {
  const { object } = context;
  const { metadata } = object;
  const recorded = givenOwner(context);
  if (recorded !== undefined) return (_resource, owner) => owner === recorded;
  const isNew = !metadata.finalizers?.includes(clusterFinalizer);
  if (isNew || metadata.annotations?.[adoptAnnotation] === "true") return () => true;
  const known = recordedIds(context);
  return ({ id }, owner) => owner === undefined || known.has(id);
}

function recordedIds({ object, cloud }: ClusterContext): ReadonlySet<string> {
  const { status = {}, spec }: OpenStackCluster = object;
  const addresses = [
    spec.controlPlaneEndpoint?.host,
    status.apiServerManagedLoadBalancer?.ip,
    status.bastion?.floatingIP,
  ];
  const ids = [
    status.apiServerManagedLoadBalancer,
    status.controlPlaneSecurityGroup,
    status.workerSecurityGroup,
    status.bastionSecurityGroup,
    ...cloud.floatingIps.filter((ip) => addresses.includes(ip.floating_ip_address)),
  ].flatMap((resource) => resource?.id ?? []);
  return new Set(ids);
}
