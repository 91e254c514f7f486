import { setConditions, type WantedCondition } from "@causeway/kubernetes";
import type { OpenStackClusterStatus } from "@causeway/api";
import type { Network, SecurityGroup } from "@causeway/openstack";
import { securityGroupName, type NodeRole } from "../resources/naming.ts";
import type { BastionPart } from "./bastion.ts";
import type { EndpointPart } from "./endpoint.ts";
import type { ClusterContext } from "./model.ts";
import type { NetworkPart } from "./network.ts";
import type { RouterPart } from "./router.ts";
import type { SecurityGroupsPart } from "./security-groups.ts";

/** What the parts of the planner found, from which the status is made. Without `bastion` the spec has none. */
export interface Parts {
  readonly network: NetworkPart;
  readonly router: RouterPart;
  readonly groups: SecurityGroupsPart;
  readonly endpoint: EndpointPart;
  readonly bastion: BastionPart | undefined;
}

/** The status as observed. What cannot be seen for the moment keeps what was recorded of it. */
export function statusOf(
  context: ClusterContext,
  parts: Parts,
  { findings, now }: { readonly findings: readonly WantedCondition[]; readonly now: number },
): OpenStackClusterStatus {
  const { object, cloud } = context;
  const before = object.status ?? {};
  const ready = findings.every((f) => f.status === "True");
  const provisioned = before.initialization?.provisioned === true || ready;
  const moment = { generation: object.metadata.generation, now };
  const { bastion: _before, ...others } = before;
  const bastion = parts.bastion?.status;
  const conditions = before.conditions?.filter((c) => c.type !== "BastionReady" || parts.bastion);
  return {
    ...others,
    ...(bastion ? { bastion } : {}),
    ...(provisioned ? { initialization: { provisioned: true } } : {}),
    ...networkStatus(parts),
    ...groupStatus(context, parts),
    ...balancerStatus(parts),
    ...(cloud.zones.length > 0 ? { failureDomains: failureDomains(context) } : {}),
    conditions: setConditions(conditions, [...findings, ...(parts.bastion ? [parts.bastion.finding] : [])], moment),
  };
}

function networkStatus({ network: part, router: { router, external } }: Parts): Partial<OpenStackClusterStatus> {
  const { network, subnets } = part;
  const ips = (router?.external_gateway_info?.external_fixed_ips ?? []).flatMap((ip) => ip.ip_address ?? []);
  return {
    ...(network
      ? {
          network: {
            ...named(network),
            subnets: subnets.map((s) => ({ ...named(s), cidr: s.cidr })),
          },
        }
      : {}),
    ...(external ? { externalNetwork: named(external) } : {}),
    ...(router ? { router: { ...named(router), ...(ips.length > 0 ? { ips } : {}) } } : {}),
  };
}

function named(resource: Pick<Network, "id" | "name" | "tags">) {
  const tags = resource.tags.length > 0 ? { tags: [...resource.tags] } : {};
  return { id: resource.id, name: resource.name || resource.id, ...tags };
}

function groupStatus({ crn }: ClusterContext, { groups: { groups } }: Parts): Partial<OpenStackClusterStatus> {
  const entry = (group: SecurityGroup, role: NodeRole | "bastion") => ({
    id: group.id,
    name: securityGroupName(crn, role),
  });
  return {
    ...(groups.controlplane ? { controlPlaneSecurityGroup: entry(groups.controlplane, "controlplane") } : {}),
    ...(groups.worker ? { workerSecurityGroup: entry(groups.worker, "worker") } : {}),
    ...(groups.bastion ? { bastionSecurityGroup: entry(groups.bastion, "bastion") } : {}),
  };
}

function balancerStatus({ endpoint: { loadBalancer, floatingIp } }: Parts): Partial<OpenStackClusterStatus> {
  if (!loadBalancer || loadBalancer.vip_address === "") return {};
  return {
    apiServerManagedLoadBalancer: {
      id: loadBalancer.id,
      name: loadBalancer.name,
      internalIP: loadBalancer.vip_address,
      ip: floatingIp?.floating_ip_address ?? loadBalancer.vip_address,
      ...(loadBalancer.tags.length > 0 ? { tags: [...loadBalancer.tags] } : {}),
    },
  };
}

/** The zones that can take servers now; which of them control planes may use is the spec's to say. */
function failureDomains({ object, cloud }: ClusterContext): NonNullable<OpenStackClusterStatus["failureDomains"]> {
  const { controlPlaneOmitAvailabilityZone: omit, controlPlaneAvailabilityZones: chosen } = object.spec;
  return cloud.zones
    .filter((zone) => zone.zoneState.available && zone.zoneName !== "internal")
    .map((zone) => zone.zoneName)
    .sort()
    .map((name) => ({ name, controlPlane: omit !== true && (chosen === undefined || chosen.includes(name)) }));
}
