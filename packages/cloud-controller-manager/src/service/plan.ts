import { shortList } from "@causeway/foundation";
import type { LoadBalancerIngress, PlannedEvent, Service, ServiceStatus } from "@causeway/kubernetes";
import type { LoadBalancer } from "@causeway/openstack";
import { defaultProvider, limitsOf, type ProviderLimits } from "@causeway/octavia-tree";
import { createBody, lbTags } from "./tree/create-body.ts";
import { desiredPorts, invalidRanges, type DesiredPort } from "./parameters/desired.ts";
import { serviceFinalizer, wantsLoadBalancer } from "./parameters/concern.ts";
import type { AddressObserved, MemoryObserved, Observed, ServiceObserved, TreeObserved } from "./observed.ts";
import { annotation } from "../config/annotations.ts";
import { isOwner, othersTags, ownListeners, sharerTag } from "./ownership.ts";
import { planAdoption } from "./plan-adoption.ts";
import type { OnePlan } from "./plan-events.ts";
import { planBroken, stuckEvents } from "./tree/plan-broken.ts";
import { planFloatingIp } from "./address/plan-floating-ip.ts";
import { isHostname } from "./parameters/hostname.ts";
import { planRelease } from "./plan-release.ts";
import { brakedUntil, nextChange, takenPorts, type TreeGoal } from "./tree/plan-tree.ts";
import { providerChange, retirement } from "./tree/plan-provider.ts";
import { nextRename } from "./tree/plan-rename.ts";
import type { OneStep, TreeStep } from "./steps.ts";
import { newMembers, newMemberEvents } from "./parameters/new-members.ts";
import { warningsOf } from "./warnings.ts";

/** What waits for the cloud is checked again after this long (ms) even if no change was seen. */
const resyncInterval = 60_000;

/**
 * The rules of a Service of type LoadBalancer (cloud-provider-openstack's ensure, update and delete as one). A plan has
 * at most one change of the load balancer itself, since each makes it immutable for a while; address work continues
 * next to it.
 */
export function plan(observed: Observed, now: number): OnePlan {
  const { service } = observed;
  const { adoption } = observed;
  const isHeld = service.metadata.finalizers?.includes(serviceFinalizer) === true;
  if (service.metadata.deletionTimestamp !== undefined || !wantsLoadBalancer(service))
    return adoption && isHeld ? planAdoption(observed, adoption, now) : planRelease(observed, now);
  const refusal = refuse(observed);
  if (refusal !== undefined) return failedPlan(observed, refusal, now);
  if (!isHeld) return { steps: [{ type: "add-finalizer" }], status: statusOf(observed) };
  if (adoption) return planAdoption(observed, adoption, now);
  if (observed.unproved !== undefined) return planUnproved(observed, observed.unproved, now);
  const lb = observed.loadBalancers[0];
  return lb ? planExisting(observed, lb, now) : planCreate(observed, now);
}

/** Why the Service cannot be served; undefined when it can. */
function refuse(observed: ServiceObserved & TreeObserved & AddressObserved): string | undefined {
  const { parameters, loadBalancers, lbName, config } = observed;
  if (!config.loadBalancer.enabled) return "load balancers are switched off in cloud.conf";
  if (!observed.octavia) return "the cloud has no load balancing service (Octavia)";
  const bad = invalidRanges(parameters.sourceRanges);
  if (bad.length > 0) return `source ranges are not CIDRs: ${bad.join(", ")}`;
  if (parameters.problems.length > 0) return parameters.problems.join("; ");
  if (loadBalancers.length > 1)
    return `${loadBalancers.length} load balancers are named ${lbName}; delete those that are not wanted`;
  return parameters.internal ? undefined : refuseFloatingPlace(observed);
}

function refuseFloatingPlace({
  parameters,
  externalNetwork,
  ...observed
}: ServiceObserved & AddressObserved): string | undefined {
  const { floatingNetworkId, floatingSubnetId } = parameters;
  if (floatingNetworkId !== undefined && externalNetwork === undefined)
    return `there is no floating network ${floatingNetworkId}`;
  const named = observed.namedFloatingSubnet;
  const fresh = observed.floatingIp === undefined && floatingSubnetId !== undefined;
  if (externalNetwork && fresh && !named) return `there is no floating subnet ${floatingSubnetId}`;
  if (named && externalNetwork && named.network_id !== externalNetwork.id)
    return `floating subnet ${floatingSubnetId} is not of network ${externalNetwork.id}`;
  return externalNetwork && observed.floatingSubnets?.length === 0
    ? `no subnet of network ${externalNetwork.id} has the wanted name or tags`
    : undefined;
}

function failedPlan(observed: ServiceObserved & TreeObserved & AddressObserved, message: string, now: number): OnePlan {
  return {
    steps: [],
    status: statusOf(observed),
    events: [syncFailed(message)],
    wait: { for: "the blocking condition to clear", until: now + resyncInterval },
  };
}

/** It serves as before, and a person says whose it is. */
function planUnproved({ service }: ServiceObserved, message: string, now: number): OnePlan {
  return {
    steps: [],
    status: service.status ?? {},
    events: [{ type: "Warning", reason: "LoadBalancerOwnerUnknown", message, ofService: true }],
    wait: { for: "a person to decide which Service owns the load balancer", until: now + resyncInterval },
  };
}

function syncFailed(message: string): PlannedEvent {
  return { type: "Warning", reason: "SyncLoadBalancerFailed", message: `Error syncing load balancer: ${message}` };
}

function planCreate(observed: Observed, now: number): OnePlan {
  const { parameters, nodeSubnet, held, lbName } = observed;
  const status = statusOf(observed);
  if (held.uncertain !== undefined && held.uncertain > now)
    return { steps: [], status, wait: { for: `${lbName}, whose creation got no response`, until: held.uncertain } };
  const placed =
    parameters.portId !== undefined || parameters.subnetId !== undefined || parameters.networkId !== undefined;
  const limits = limitsOf(wantedProvider(observed), observed.facts.version);
  const refusal = refuseOptions(observed, limits);
  if (refusal !== undefined) return failedPlan(observed, refusal, now);
  const ports = wanted(observed, limits, now);
  if (!hasMembers(observed, ports) || (!placed && !nodeSubnet)) {
    const message = "There are no available nodes for LoadBalancer";
    return {
      steps: [],
      status,
      wait: { for: "a node that can be a member", until: now + resyncInterval },
      events: [{ type: "Warning", reason: "UnAvailableLoadBalancer", message }, syncFailed(message)],
    };
  }
  return {
    steps: [{ type: "create-load-balancer", body: createBody(observed, ports, limits) }],
    status,
    events: [
      { type: "Normal", reason: "EnsuringLoadBalancer", message: "Ensuring load balancer" },
      ...observed.anothers.map(ownedByAnother),
      ...warningsOf(observed, limits),
    ],
  };
}

function ownedByAnother({ id, name }: LoadBalancer): PlannedEvent {
  const message = `load balancer ${id} is named ${name} but its tags name another Service as its owner, and it serves no node of this cluster; it is left alone and another one is created. Do two clusters have the same --cluster-name? If the Service was restored from a backup into a new cluster, delete the load balancer when the former cluster no longer needs it`;
  return { type: "Warning", reason: "LoadBalancerOwnedByAnother", message };
}

/** Ports without node ports have none, and are served all the same. */
function hasMembers({ service }: ServiceObserved, ports: readonly DesiredPort[]): boolean {
  const unreachable = (service.spec.ports ?? []).every((port) => (port.nodePort ?? 0) === 0);
  return unreachable || ports.some((port) => port.members.length > 0);
}

function wanted(observed: Observed, limits: ProviderLimits, now: number, vipSubnetId?: string): DesiredPort[] {
  const { service, parameters, lbName, nodeSubnet } = observed;
  const { nodes } = newMembers(observed, now);
  const memberSubnetId = parameters.memberSubnetId ?? parameters.subnetId ?? nodeSubnet?.id ?? vipSubnetId;
  const serial = observed.config.loadBalancer.serialApiCalls;
  return desiredPorts({ service, nodes, parameters, limits, lbName, memberSubnetId, serial });
}

function planExisting(observed: Observed, lb: LoadBalancer, now: number): OnePlan {
  const status = statusOf(observed);
  if (lb.provisioning_status === "ERROR") return planBroken(observed, lb, { status, now });
  const limits = limitsOf(lb.provider, observed.facts.version);
  const tags = limits.tags ? wantedTags(observed, lb) : [];
  const goal = { lb, wanted: wanted(observed, limits, now, lb.vip_subnet_id), tags };
  const refusal = refuseOptions(observed, limits) ?? refuseSharing(observed, lb) ?? refusePorts(observed, goal);
  if (refusal !== undefined) return failedPlan(observed, refusal, now);
  const address = observed.retiring.length > 0 ? { steps: [], events: [] } : planFloatingIp(observed, lb);
  const tree = planTree(observed, goal, now);
  // The load balancer's change comes last: what fails there holds up no address.
  const steps: OneStep[] = [...annotateSteps(observed, lb), ...address.steps, ...tree.steps];
  const events = [
    ...address.events,
    ...tree.events,
    ...observed.anothers.map(ownedByAnother),
    ...warningsOf(observed, limits),
    ...newMemberEvents(observed, now),
    ...stuckEvents(observed, lb, now),
  ];
  if (tree.wait) return { steps, status, events, wait: tree.wait };
  if (steps.length > 0) return { steps, status, events };
  const { waiting, until } = newMembers(observed, now);
  return {
    steps,
    status,
    events: isPublished(observed, status) ? events : [...events, ...ensured()],
    ...(until === undefined ? {} : { wait: { for: `nodes to serve: ${shortList(waiting, 5)}`, until } }),
  };
}

/** A sharer never marks itself as the owner. */
function wantedTags(observed: ServiceObserved & TreeObserved, lb: LoadBalancer): string[] {
  if (isOwner(observed, lb)) return lbTags(observed);
  const { lbName, clusterName, service, parameters } = observed;
  return [...new Set([lbName, sharerTag(clusterName, service), ...parameters.tags])];
}

/** The next change of the load balancer and its parts, or what it waits for. */
function planTree(
  observed: Observed,
  goal: TreeGoal,
  now: number,
): Pick<Required<OnePlan>, "steps" | "events"> & Pick<OnePlan, "wait"> {
  const { lb } = goal;
  const provider = providerChange(observed, lb);
  if (lb.provisioning_status !== "ACTIVE")
    return { steps: [], events: [], wait: { for: `load balancer ${lb.id} to be ACTIVE`, until: now + resyncInterval } };
  const first = [nextRename(observed, lb), provider.step].filter((step) => step !== undefined);
  // A rename or a change of provider that is held back holds up no member.
  const change = first.find((step) => observed.held.braked(step) === undefined) ?? nextChange(observed, goal);
  const until = change ? undefined : brakedUntil(observed, goal, first);
  if (until !== undefined) {
    const wait = { for: "changes that did not settle or were refused", until, onlyHeld: true } as const;
    return { steps: [], events: provider.events, wait };
  }
  if (!change) return { ...retirement(observed, lb, now), events: provider.events };
  const busy = heldBack(observed, change, now);
  const warnings = provider.step === undefined || change === provider.step ? provider.events : [];
  const events = [...announced(observed, change), ...warnings];
  if (busy === undefined) return { steps: [change], events };
  return { steps: [], events, wait: { for: `load balancer ${lb.id} to be changeable`, until: busy } };
}

/** What the provider cannot do at all of what traffic depends on. */
function refuseOptions(
  { parameters, tlsProblem, service }: ServiceObserved & TreeObserved,
  limits: ProviderLimits,
): string | undefined {
  if (tlsProblem !== undefined) return tlsProblem;
  if (limits.http || !hasTcp(service)) return undefined;
  const asked = [
    ...(parameters.insertHeaders.length > 0 ? ["x-forwarded headers"] : []),
    ...(parameters.tlsContainerRef === "" ? [] : ["TLS termination"]),
    ...(parameters.proxyProtocol === undefined ? [] : ["the PROXY protocol"]),
  ];
  if (asked.length === 0) return undefined;
  return `load balancer provider ${limits.provider} does not support ${asked.join(", ")}; use another one, or remove the annotation`;
}

/** What the Service asks for, else cloud.conf, else the cloud. */
function wantedProvider({ parameters, config, facts }: ServiceObserved & TreeObserved): string | undefined {
  return parameters.provider ?? config.loadBalancer.provider ?? defaultProvider(facts);
}

/** Whether a Service may put listeners on a load balancer that is another's. */
function refuseSharing(observed: ServiceObserved & TreeObserved, lb: LoadBalancer): string | undefined {
  const { lbName, parameters, config } = observed;
  if (isOwner(observed, lb)) return undefined;
  if (parameters.internal) return `an internal Service cannot share load balancer ${lb.id}`;
  const { maxSharedLoadBalancers: most } = config.loadBalancer;
  if (lb.tags.includes(lbName) || othersTags(lb, observed).length + 1 <= most) return undefined;
  return `load balancer ${lb.id} is shared by ${most} Services already (max-shared-lb)`;
}

function refusePorts(observed: ServiceObserved & TreeObserved, goal: TreeGoal): string | undefined {
  const taken = takenPorts(observed, goal);
  if (taken.length === 0) return undefined;
  return `${taken.join(", ")} of load balancer ${goal.lb.id} is in use by another Service; remove annotation ${annotation.loadBalancerId} to get a load balancer of its own`;
}

/** Until when the change must wait; undefined: it need not. */
function heldBack(
  { held, pools }: TreeObserved & MemoryObserved,
  change: TreeStep | undefined,
  now: number,
): number | undefined {
  if (held.busy !== undefined && held.busy > now) return held.busy;
  if (held.nodes === undefined || held.nodes <= now || !changesMembers(change)) return undefined;
  // A pool without members carries no traffic: it does not wait for more nodes.
  const empty = pools.find((p) => p.pool.id === change.poolId)?.members.length === 0;
  return empty ? undefined : held.nodes;
}

function changesMembers(
  change: TreeStep | undefined,
): change is Extract<TreeStep, { type: "replace-members" | "create-member" | "delete-member" }> {
  return ["replace-members", "create-member", "delete-member"].includes(change?.type ?? "");
}

function announced(observed: ServiceObserved, change: TreeStep | undefined): PlannedEvent[] {
  if (changesMembers(change))
    return [{ type: "Normal", reason: "UpdatedLoadBalancer", message: "Updated load balancer with new hosts" }];
  const { formerName: former, lbName } = observed;
  if (former === undefined || change?.type !== "update-load-balancer") return [];
  const message = `the cluster was renamed: load balancer ${former} and its parts are renamed to ${lbName}`;
  return [{ type: "Warning", reason: "LoadBalancerRename", message }];
}

function annotateSteps(observed: ServiceObserved & AddressObserved, lb: LoadBalancer): OneStep[] {
  const have = observed.service.metadata.annotations ?? {};
  const address = addressOf(observed, lb);
  const change: Record<string, string> = {};
  if (have[annotation.loadBalancerId] !== lb.id) change[annotation.loadBalancerId] = lb.id;
  if (address !== undefined && have[annotation.loadBalancerAddress] !== address)
    change[annotation.loadBalancerAddress] = address;
  return Object.keys(change).length === 0 ? [] : [{ type: "annotate", annotations: change }];
}

/** Where clients reach it; undefined while a floating IP is to come. */
function addressOf(
  { parameters, floatingIp, externalNetwork }: ServiceObserved & AddressObserved,
  lb: LoadBalancer,
): string | undefined {
  if (parameters.internal) return lb.vip_address;
  if (floatingIp) return floatingIp.floating_ip_address;
  return lb.vip_address.includes(":") || externalNetwork === undefined ? lb.vip_address : undefined;
}

/**
 * Published when the load balancer can serve: never before it is ACTIVE the first time, and kept while it is changed.
 */
function statusOf(observed: ServiceObserved & TreeObserved & AddressObserved): ServiceStatus {
  const lb = observed.loadBalancers[0];
  const before = observed.service.status?.loadBalancer?.ingress ?? [];
  // While another takes its place, clients still reach the one that is retiring.
  if (observed.retiringFloatingIp && before.length > 0) return { loadBalancer: { ingress: before } };
  if (!lb) return { loadBalancer: {} };
  // Without a listener of its own on another Service's load balancer its clients would reach that Service's pods.
  if (!isOwner(observed, lb) && ownListeners(observed, lb).length === 0) return { loadBalancer: {} };
  if (lb.provisioning_status !== "ACTIVE" && before.length === 0) return { loadBalancer: {} };
  const address = addressOf(observed, lb);
  return address === undefined ? { loadBalancer: {} } : { loadBalancer: { ingress: [ingressOf(observed, address)] } };
}

/**
 * A hostname that the API server would refuse is left out: the address is published instead, and a warning says why.
 */
function ingressOf({ parameters, config, service }: ServiceObserved, ip: string): LoadBalancerIngress {
  if (parameters.hostname !== undefined && isHostname(parameters.hostname)) return { hostname: parameters.hostname };
  const proxied = parameters.proxyProtocol !== undefined && hasTcp(service);
  const { enableIngressHostname, ingressHostnameSuffix } = config.loadBalancer;
  if (proxied && enableIngressHostname) return { hostname: `${ip}.${ingressHostnameSuffix}` };
  return { ip, ipMode: proxied ? "Proxy" : "VIP" };
}

/** Pools of other protocols have no PROXY protocol. */
function hasTcp({ spec }: Service): boolean {
  return (spec.ports ?? []).some((port) => (port.protocol ?? "TCP") === "TCP");
}

function isPublished({ service }: ServiceObserved, status: ServiceStatus): boolean {
  const key = (s: ServiceStatus | undefined) =>
    JSON.stringify((s?.loadBalancer?.ingress ?? []).map((i) => [i.ip, i.hostname]));
  return key(service.status) === key(status);
}

function ensured(): PlannedEvent[] {
  return [{ type: "Normal", reason: "EnsuredLoadBalancer", message: "Ensured load balancer" }];
}
