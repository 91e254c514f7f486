import type { IPAddress, OpenStackFloatingIPPool, OpenStackFloatingIPPoolStatus } from "@causeway/api";
import { isDeleting, setConditions, type Plan, type PlannedEvent, type WantedCondition } from "@causeway/kubernetes";
import type { FloatingIp, Network } from "@causeway/openstack";
import { tagsToSet } from "../resources/ownership.ts";
import { resolveParameter } from "../resources/parameters.ts";
import type { PoolCloud, Observed } from "./model.ts";
import { addressFinalizer, poolDescription, poolFinalizer, poolTag } from "./naming.ts";
import type { PoolStep } from "./steps.ts";

/** The steps and status of an OpenStackFloatingIPPool. */
export type PoolPlan = Plan<PoolStep, OpenStackFloatingIPPoolStatus>;

const retry = 60_000;
const reason = "OpenStackError";
const READY = "OpenstackFloatingIPPoolReadyCondition";

/** What a pool of floating IPs needs next. Pure, like planCluster. */
export function plan(observed: Observed, now: number): PoolPlan {
  const { object, identity, hold } = observed;
  const before = object.status ?? {};
  const deleting = isDeleting(object);
  if (observed.paused || (deleting && !object.metadata.finalizers?.includes(poolFinalizer)))
    return { steps: [], status: before };
  if (!identity.ok) {
    const { reason: why, message, until } = identity;
    // It limits the rate of requests: nothing has failed.
    if (until !== undefined) return { steps: [], status: before, wait: { for: message, until } };
    const finding: WantedCondition = {
      type: "OpenStackAuthenticationSucceeded",
      status: "False",
      reason: why,
      message,
    };
    return ended(observed, before, { findings: [finding], wait: message, now });
  }
  const { cloud } = identity;
  const status = { ...before, ...addressStatus(observed, cloud) };
  if (hold && hold.until > now)
    return ended(observed, status, { findings: [notReady(hold.reason, hold.message)], wait: hold.message, now });
  const released = releaseSteps(observed, cloud);
  if (released.length > 0) return { steps: released, status };
  if (deleting) return planPoolDeletion(observed, { cloud, status, now });
  if (!object.metadata.finalizers?.includes(poolFinalizer))
    return { steps: [{ type: "add-finalizer", reason }], status };
  const network = networkOf(object, cloud);
  if (typeof network === "string")
    return ended(observed, status, { findings: [notReady("UnableToFindNetwork", network)], wait: network, now });
  const { id, name, tags } = network;
  const withNetwork = { ...status, floatingIPNetwork: { id, name, ...(tags.length > 0 ? { tags } : {}) } };
  return planClaims(observed, { cloud, status: withNetwork, now });
}

interface PoolState {
  readonly cloud: PoolCloud;
  readonly status: OpenStackFloatingIPPoolStatus;
  readonly now: number;
}

/** Floating IPs that the pool created, whatever became of its records. */
function ownIps({ object }: Observed, { floatingIps, projectId }: PoolCloud): FloatingIp[] {
  const mark = poolDescription(object);
  const recorded = new Set(object.status?.availableIPs ?? []);
  return floatingIps.filter(
    (ip) =>
      ip.project_id === projectId &&
      (ip.description === mark || (recorded.has(ip.floating_ip_address) && ip.tags.includes(poolTag(object)))),
  );
}

const preAllocatedOf = ({ spec }: OpenStackFloatingIPPool): Set<string> => new Set(spec.preAllocatedFloatingIPs);

const claimedOf = ({ addresses }: Observed): Set<string> => new Set(addresses.map(({ spec }) => spec.address));

/** Pre-allocated ones first, then own ones; those that a port has are in use elsewhere. */
function availableOf(observed: Observed, cloud: PoolCloud): FloatingIp[] {
  const claimed = claimedOf(observed);
  const inProject = cloud.floatingIps.filter((ip) => ip.project_id === cloud.projectId);
  const byAddress = Map.groupBy(inProject, (ip) => ip.floating_ip_address);
  const given = [...preAllocatedOf(observed.object)].flatMap((address) => byAddress.get(address) ?? []);
  const own = ownIps(observed, cloud).sort((a, b) => (a.id < b.id ? -1 : 1));
  return [...new Set([...given, ...own])].filter((ip) => !claimed.has(ip.floating_ip_address) && ip.port_id === null);
}

function addressStatus(observed: Observed, cloud: PoolCloud): Partial<OpenStackFloatingIPPoolStatus> {
  const there = new Set(cloud.floatingIps.map((ip) => ip.floating_ip_address));
  const failed = (observed.object.spec.preAllocatedFloatingIPs ?? []).filter((address) => !there.has(address));
  const living = observed.addresses.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return {
    claimedIPs: living.map(({ spec }) => spec.address).sort(),
    availableIPs: availableOf(observed, cloud).map((ip) => ip.floating_ip_address),
    failedIPs: failed,
  };
}

/** Addresses whose claims are gone give their floating IPs back. */
function releaseSteps(observed: Observed, cloud: PoolCloud): PoolStep[] {
  const claims = new Set(observed.claims.map(({ metadata }) => metadata.name));
  return observed.addresses.flatMap((address): PoolStep[] => {
    const { name, deletionTimestamp, finalizers = [] } = address.metadata;
    if (deletionTimestamp === undefined)
      return claims.has(address.spec.claimRef.name) ? [] : [{ type: "delete-address", reason, name }];
    if (!finalizers.includes(addressFinalizer)) return [];
    return [...reclaimSteps(observed, cloud, address), { type: "release-address", reason, name }];
  });
}

function reclaimSteps(observed: Observed, cloud: PoolCloud, { spec }: IPAddress): PoolStep[] {
  const { object } = observed;
  if (object.spec.reclaimPolicy !== "Delete" || preAllocatedOf(object).has(spec.address)) return [];
  const mark = poolDescription(object);
  return cloud.floatingIps
    .filter((ip) => ip.floating_ip_address === spec.address)
    .filter((ip) => ip.description === mark || ip.tags.includes(poolTag(object)))
    .map((ip) => ({ type: "delete-floating-ip", reason, id: ip.id, address: spec.address }));
}

/** As upstream's: a pool waits for its addresses, and then deletes what it created, whatever the policy. */
function planPoolDeletion(observed: Observed, { cloud, status, now }: PoolState): PoolPlan {
  const count = observed.addresses.length;
  if (count > 0) {
    const message = `${count} IPAddresses of the pool to be deleted first`;
    return ended(observed, status, {
      findings: [notReady("Deleting", `Waiting for ${message}`)],
      wait: message,
      isExpected: true,
      now,
    });
  }
  const preAllocated = preAllocatedOf(observed.object);
  const own = ownIps(observed, cloud).filter((ip) => ip.port_id === null && !preAllocated.has(ip.floating_ip_address));
  const steps = own.map((ip): PoolStep => ({
    type: "delete-floating-ip",
    reason,
    id: ip.id,
    address: ip.floating_ip_address,
  }));
  return { steps: [...steps, { type: "remove-finalizer", reason }], status };
}

function planClaims(observed: Observed, { cloud, status, now }: PoolState): PoolPlan {
  const { object, claims, addresses } = observed;
  const steps: PoolStep[] = tagSteps(observed, cloud);
  const free = availableOf(observed, cloud);
  let inUse = addresses.length;
  let left = 0;
  const most = object.spec.maxIPs ?? Infinity;
  const known = ownIps(observed, cloud).map(({ id }) => id);
  for (const { metadata, status: recorded } of claims) {
    if (metadata.deletionTimestamp !== undefined || recorded?.addressRef !== undefined) continue;
    const { name } = metadata;
    const address = addresses.find((one) => one.spec.claimRef.name === name);
    if (address) {
      // An address that is being deleted belongs to an earlier claim of this name: this one gets an address after it.
      if (!isDeleting(address)) steps.push({ type: "record-address", reason, claim: name });
      continue;
    }
    const next = free.shift();
    if (next === undefined && inUse >= most) {
      left += 1;
      continue;
    }
    inUse += 1;
    steps.push(
      next
        ? { type: "create-address", reason, claim: name, address: next.floating_ip_address }
        : { type: "create-floating-ip", reason, body: bodyOf(object, status), known },
    );
  }
  if (steps.length === 0 && left === 0) steps.push(...abandonedSteps(observed, cloud));
  if (steps.length > 0) return { steps, status: withFindings(observed, status, { findings: [ready], now }) };
  if (left === 0) return ended(observed, status, { findings: [ready], now });
  const message = `The maximum of ${most} addresses is in use; ${left} claims wait. Raise spec.maxIPs, or delete claims`;
  return ended(observed, status, { findings: [notReady("MaxIPsReached", message)], wait: message, now });
}

function bodyOf(object: OpenStackFloatingIPPool, { floatingIPNetwork }: OpenStackFloatingIPPoolStatus) {
  return { floating_network_id: floatingIPNetwork?.id ?? "", description: poolDescription(object) };
}

/**
 * Where released floating IPs are deleted, so are those that were created for a claim that has gone since: they have
 * never been claimed, for they have no tag. While the address of a claim is not seen, it may be one of them.
 */
function abandonedSteps(observed: Observed, cloud: PoolCloud): PoolStep[] {
  const { object, claims, addresses } = observed;
  if (object.spec.reclaimPolicy !== "Delete") return [];
  if (claims.some(({ metadata }) => !addresses.some(({ spec }) => spec.claimRef.name === metadata.name))) return [];
  const mark = poolDescription(object);
  return availableOf(observed, cloud)
    .filter((ip) => ip.description === mark && ip.tags.length === 0)
    .map((ip) => ({ type: "delete-floating-ip", reason, id: ip.id, address: ip.floating_ip_address }));
}

/** Where released ones are deleted, only those that are claimed get the tag. */
function tagSteps(observed: Observed, cloud: PoolCloud): PoolStep[] {
  const areDeleted = observed.object.spec.reclaimPolicy === "Delete";
  const claimed = claimedOf(observed);
  return ownIps(observed, cloud).flatMap((ip): PoolStep[] => {
    if (areDeleted && !claimed.has(ip.floating_ip_address)) return [];
    const tags = tagsToSet(ip.tags, [poolTag(observed.object)]);
    return tags ? [{ type: "tag-floating-ip", reason, id: ip.id, tags }] : [];
  });
}

/** The recorded network, the one of the spec, or the only external one. */
function networkOf({ spec, status }: OpenStackFloatingIPPool, { networks }: PoolCloud): Network | string {
  const external = networks.filter((network) => network["router:external"]);
  const recorded = external.find(({ id }) => id === status?.floatingIPNetwork?.id);
  if (recorded) return recorded;
  if (spec.floatingIPNetwork) {
    const found = resolveParameter(spec.floatingIPNetwork, external, "spec.floatingIPNetwork");
    return found.ok ? found.resource : found.problem;
  }
  const [only, ...others] = external;
  if (!only) return "The project sees no external network";
  return others.length === 0 ? only : "The project sees several external networks; set spec.floatingIPNetwork";
}

const ready: WantedCondition = { type: READY, status: "True", reason: "Ready" };
const authenticated: WantedCondition = { type: "OpenStackAuthenticationSucceeded", status: "True", reason: "Ready" };

function notReady(why: string, message: string): WantedCondition {
  return { type: READY, status: "False", reason: why, message };
}

interface End {
  readonly findings: readonly WantedCondition[];
  readonly wait?: string;
  /** It takes its time, and no user has to act: no event. */
  readonly isExpected?: true;
  readonly now: number;
}

/** Nothing to do: the conditions say why, and warnings are events, too. */
function ended(observed: Observed, status: OpenStackFloatingIPPoolStatus, end: End): PoolPlan {
  const { findings, wait, isExpected = false, now } = end;
  const events = findings
    .filter((one) => one.status === "False" && !isExpected)
    .map((one): PlannedEvent => ({ type: "Warning", reason: one.reason, message: one.message ?? "" }));
  return {
    steps: [],
    status: withFindings(observed, status, end),
    ...(wait === undefined ? {} : { wait: { for: wait, until: now + retry } }),
    events,
  };
}

function withFindings(
  { object, identity }: Observed,
  status: OpenStackFloatingIPPoolStatus,
  { findings, now }: End,
): OpenStackFloatingIPPoolStatus {
  const all = identity.ok ? [authenticated, ...findings] : findings;
  const moment = { generation: object.metadata.generation, now };
  return { ...status, conditions: setConditions(status.conditions, all, moment) };
}
