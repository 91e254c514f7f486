import {
  Secret,
  type Brake,
  type Informer,
  type KubernetesClient,
  type Namespace,
  type Node,
  type ObjectKey,
  type Service,
} from "@causeway/kubernetes";
import { gatherBalancer, type BalancerMemory } from "../balancer/gather-balancer.ts";
import type { Bundle } from "../certificates/pkcs12.ts";
import type { IngressConfig } from "../config/config.ts";
import type { ClassMaps } from "../ingress/class-maps.ts";
import { bundleFrom } from "../ingress/gather.ts";
import { classParameters, parametersOf, type ClassParameters } from "../ingress/parameters.ts";
import { GATEWAY_CONTROLLER, gatewayOwner } from "../names.ts";
import type { Gateway, GatewayClass, ReferenceGrant, Route } from "../objects/gateway.ts";
import { gatherMembers } from "../objects/gather-members.ts";
import type { PodEndpoints } from "../objects/pod-endpoints.ts";
import type { Observed } from "./observed.ts";
import { isParent } from "./references.ts";
import { parentsOf } from "./references-of.ts";
import { concerns, isHeld } from "./plan-scope.ts";

/** The informers that a Gateway is gathered from. */
export interface GatherFrom {
  readonly config: IngressConfig;
  readonly client: KubernetesClient;
  readonly gateways: Informer<Gateway>;
  readonly classes: Informer<GatewayClass>;
  /** Of each kind that the cluster has. */
  readonly routes: readonly Informer<Route>[];
  readonly grants: Informer<ReferenceGrant> | undefined;
  readonly services: Informer<Service>;
  readonly secrets: Informer<Secret>;
  readonly namespaces: Informer<Namespace>;
  readonly nodes: Informer<Node>;
  readonly pods: PodEndpoints;
  readonly maps: ClassMaps;
  readonly memory: BalancerMemory;
  readonly brake: Brake;
}

/**
 * Reads a Gateway with everything that its load balancer depends on; undefined: it is gone, or another controller's.
 */
export async function gather(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const gateway = from.gateways.get(key);
  if (!gateway) return undefined;
  const given = await parametersFor(from, gateway, signal);
  const hasClass = from.classes.get({ namespace: "", name: gateway.spec.gatewayClassName }) !== undefined;
  if (!concerns(gateway, { isOurs: given !== undefined, hasClass })) return undefined;
  const { name, namespace = "", uid = "" } = gateway.metadata;
  const owner = gatewayOwner(from.config.clusterName, { name, namespace, uid });
  const secrets = await secretsOf(from, gateway, signal);
  const parameters = parametersOf(gateway, given?.internal);
  const wanted = gateway.spec.addresses?.[0]?.value;
  const tls = secrets.size > 0;
  const routes = routesOf(from, { name, namespace });
  const defaults = given?.balancer ?? from.config.balancer;
  const services = routes.flatMap(backendServices);
  const { opened, ...members } = await gatherMembers(from, defaults.members, services, signal);
  const balancer = await gatherBalancer(
    from.memory,
    {
      owner,
      key,
      brake: from.brake,
      held: isHeld(gateway),
      tls,
      floating: true,
      address: parameters.internal ? undefined : (wanted ?? parameters.floatingIp),
      ...opened,
      subnetId: defaults.subnetId,
      ranged: parameters.sourceRanges.length > 0,
    },
    signal,
  );
  return {
    gateway,
    owner,
    config: from.config,
    class: given,
    routes,
    ...members,
    grants: from.grants?.list() ?? [],
    services: byName(from.services.list()),
    secrets,
    namespaces: new Map(from.namespaces.list().map((object) => [object.metadata.name, object])),
    keyManager: !tls || (await from.memory.certificates.exists(signal)),
    balancer,
  };
}

/** Undefined: the class is another controller's. */
async function parametersFor(
  { classes, maps, config }: GatherFrom,
  { spec }: Gateway,
  signal: AbortSignal,
): Promise<ClassParameters | undefined> {
  const found = classes.get({ namespace: "", name: spec.gatewayClassName });
  if (found?.spec.controllerName !== GATEWAY_CONTROLLER) return undefined;
  return classParameters(config.balancer, await maps.of(asIngressClass(found), signal));
}

/** A GatewayClass refers to its parameters with other words. */
export function asIngressClass({ apiVersion, kind, metadata, spec: { parametersRef: ref } }: GatewayClass) {
  const parameters = ref && {
    apiGroup: ref.group,
    kind: ref.kind,
    name: ref.name,
    ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }),
  };
  return { apiVersion, kind, metadata, spec: parameters ? { parameters } : {} };
}

/** Is it of interest to the Gateway: as its parent, or by an entry of ours in its status? The oldest first. */
function routesOf({ routes }: GatherFrom, gateway: { name: string; namespace: string }): Route[] {
  const age = ({ metadata: m }: Route): string => `${m.creationTimestamp} ${m.namespace}/${m.name}`;
  return routes
    .flatMap((informer) => [...informer.list()])
    .filter((route) => parentsOf(route).some((ref) => isParent(ref, route.metadata.namespace ?? "", gateway)))
    .sort((a, b) => (age(a) < age(b) ? -1 : 1));
}

/** The Services that a route sends requests to, whether it may or not: "namespace/name". */
function backendServices({ metadata: { namespace: own = "" }, spec }: Route): string[] {
  const refs = (spec.rules ?? []).flatMap(({ backendRefs = [] }) => backendRefs);
  return refs.map(({ namespace = own, name }) => `${namespace}/${name}`);
}

function byName<T extends Service>(objects: readonly T[]): Map<string, T> {
  return new Map(objects.map((object) => [`${object.metadata.namespace}/${object.metadata.name}`, object]));
}

/** Secrets that listeners refer to, whether they may or not: the plan decides. */
async function secretsOf(
  { secrets, client }: GatherFrom,
  { metadata, spec }: Gateway,
  signal: AbortSignal,
): Promise<Map<string, Bundle | { readonly problem: string }>> {
  const found = new Map<string, Bundle | { readonly problem: string }>();
  for (const { name, namespace = metadata.namespace ?? "" } of spec.listeners.flatMap(
    (l) => l.tls?.certificateRefs ?? [],
  )) {
    const secret = secrets.get({ namespace, name }) ?? (await client.find(Secret, { namespace, name }, { signal }));
    found.set(`${namespace}/${name}`, secret ? bundleFrom(secret) : { problem: "does not exist" });
  }
  return found;
}
