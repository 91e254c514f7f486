import type { PlannedEvent } from "@causeway/kubernetes";
import {
  errorKey,
  immutableKey,
  isOfMembers,
  isOfPolicies,
  performPolicy,
  performTree,
  uncertainKey,
  errorBackoff,
  immutableBackoff,
  failedCreateBackoff,
  type AnyTreeStep,
} from "@causeway/octavia-tree";
import { isImmutable, isOutcomeUnknown } from "@causeway/openstack";
import type { Bundle } from "../certificates/pkcs12.ts";
import type { ObservedBalancer } from "./balancer.ts";
import type { BalancerMemory } from "./gather-balancer.ts";
import { isLeaving } from "./plan-selection.ts";
import { isAnothers } from "./plan-balancer.ts";
import { performGroup } from "./security-group/perform-group.ts";
import type { AddressStep, BalancerStep } from "./steps.ts";

/** With what the steps of a load balancer are performed. Certificates are by the names that steps have. */
export interface PerformBalancer {
  readonly memory: BalancerMemory;
  readonly observed: ObservedBalancer;
  readonly certificates: ReadonlyMap<string, Bundle>;
  /** Emits an event on the owner. */
  readonly emit: (event: PlannedEvent) => void;
  readonly signal: AbortSignal;
}

/** Every step of a balancer; the compiler reports one that is missing. */
const BALANCER_STEPS: Readonly<Record<BalancerStep["type"], true>> = {
  "create-load-balancer": true,
  "update-load-balancer": true,
  "delete-load-balancer": true,
  "create-listener": true,
  "update-listener": true,
  "delete-listener": true,
  "create-pool": true,
  "update-pool": true,
  "delete-pool": true,
  "replace-members": true,
  "create-member": true,
  "update-member": true,
  "delete-member": true,
  "create-monitor": true,
  "update-monitor": true,
  "delete-monitor": true,
  "create-policy": true,
  "update-policy": true,
  "delete-policy": true,
  "create-rule": true,
  "create-floating-ip": true,
  "attach-floating-ip": true,
  "detach-floating-ip": true,
  "delete-floating-ip": true,
  "store-certificate": true,
  "delete-certificate": true,
  "create-security-group": true,
  "tag-security-group": true,
  "add-security-group-rules": true,
  "remove-security-group-rules": true,
  "set-port-security-groups": true,
  "delete-security-group": true,
};

/** True for a step that changes a balancer, its addresses, certificates or security groups. */
export function isBalancerStep(step: { readonly type: string }): step is BalancerStep {
  return Object.hasOwn(BALANCER_STEPS, step.type);
}

/** One call, or two where a search comes first. */
export async function performBalancer(step: BalancerStep, using: PerformBalancer): Promise<void | "deferred"> {
  const { memory, signal, certificates } = using;
  switch (step.type) {
    case "create-load-balancer":
      return create(step, using);
    case "delete-load-balancer":
      return remove(step, using);
    case "store-certificate": {
      const bundle = certificates.get(step.name);
      if (bundle) await memory.certificates.create(step.name, bundle.pkcs12(), signal);
      return;
    }
    case "delete-certificate":
      return memory.certificates.delete(step.ref, signal);
    case "create-floating-ip":
    case "attach-floating-ip":
    case "detach-floating-ip":
    case "delete-floating-ip":
      return performAddress(step, using);
    case "create-security-group":
    case "tag-security-group":
    case "add-security-group-rules":
    case "remove-security-group-rules":
    case "set-port-security-groups":
    case "delete-security-group":
      return performGroup(step, { ...memory, signal });
    default:
      return change(step, using);
  }
}

/** One POST for the whole tree, after a search for what another attempt created. */
async function create(
  { body, event }: Extract<BalancerStep, { type: "create-load-balancer" }>,
  { memory, observed, emit, signal }: PerformBalancer,
): Promise<void | "deferred"> {
  const { cloud, watch, backoffs, details } = memory;
  const { loadBalancers } = cloud.loadBalancing;
  const { name } = body;
  const known = (await loadBalancers.all({ name }, { signal })).find(
    (lb) => !isLeaving(lb) && !isAnothers(lb, observed.owner),
  );
  try {
    if (!known) emit(event);
    const made = known ?? (await loadBalancers.create(body, { signal }));
    backoffs.reset(uncertainKey(name));
    if (!known) details.made(made);
    watch.loadBalancers.observe(made);
  } catch (error) {
    if (!isOutcomeUnknown(error)) throw error;
    backoffs.increase(uncertainKey(name), failedCreateBackoff);
    watch.loadBalancers.hurry(backoffs.until(uncertainKey(name)));
    if (backoffs.count(uncertainKey(name)) > 2) throw error;
    return "deferred";
  }
}

async function remove(
  { id, event, broken }: Extract<BalancerStep, { type: "delete-load-balancer" }>,
  { memory, observed, emit, signal }: PerformBalancer,
): Promise<void | "deferred"> {
  const { cloud, watch, backoffs } = memory;
  try {
    await cloud.loadBalancing.deleteLoadBalancer(id, { cascade: true, signal });
  } catch (error) {
    if (!isImmutable(error)) throw error;
    backoffs.increase(immutableKey(id), immutableBackoff);
    watch.loadBalancers.hurry();
    return "deferred";
  }
  emit(event);
  if (broken) backoffs.increase(errorKey(observed.owner.name), errorBackoff);
  const now = watch.loadBalancers.get(id);
  if (now) watch.loadBalancers.observe({ ...now, provisioning_status: "PENDING_DELETE" });
}

/** A load balancer that another client is changing is waited for: that is no error. */
async function change(step: AnyTreeStep, { memory, observed, signal }: PerformBalancer): Promise<void | "deferred"> {
  const { backoffs, freshness, policies } = memory;
  const { tree } = observed;
  if (!tree) return;
  try {
    if (isOfPolicies(step)) await performPolicy(step, { ...memory, signal });
    else await performTree(step, { ...memory, pools: tree.pools, signal });
    backoffs.reset(immutableKey(tree.lb.id));
  } catch (error) {
    // Whatever was wrong, what is cached may be the reason.
    freshness.touch(tree.lb, "tree");
    for (const { id } of tree.listeners) policies.forget(id);
    if (!isImmutable(error)) throw error;
    backoffs.increase(immutableKey(tree.lb.id), immutableBackoff);
    return "deferred";
  }
  freshness.touch(tree.lb, isOfMembers(step) || isOfPolicies(step) ? "members" : "tree");
  if (isOfMembers(step) && step.more) freshness.expectMore(tree.lb);
}

async function performAddress(step: AddressStep, { memory, signal }: PerformBalancer): Promise<void> {
  const { floatingIps } = memory.cloud.network;
  const cache = memory.watch.floatingIps;
  try {
    switch (step.type) {
      case "create-floating-ip": {
        const { networkId, description, portId } = step;
        const recover = async () => (await floatingIps.all({ port_id: portId }, { signal }))[0];
        const body = { floating_network_id: networkId, description, port_id: portId };
        cache.observe(await floatingIps.create(body, { signal, recover }));
        return;
      }
      case "attach-floating-ip":
        cache.observe(await floatingIps.update(step.id, { port_id: step.portId }, { signal }));
        return;
      case "detach-floating-ip":
        cache.observe(await floatingIps.update(step.id, { port_id: null }, { signal, deletes: true }));
        return;
      case "delete-floating-ip":
        if (step.onlyFree) {
          const found = await floatingIps.find(step.id, { signal });
          if (found) cache.observe(found);
          if ((found?.port_id ?? "") !== "") return;
        }
        await floatingIps.delete(step.id, { signal });
        cache.forget(step.id);
        return;
    }
  } catch (error) {
    // Another client may have deleted or used it: the next read shows what is so.
    await cache.refresh(signal);
    throw error;
  }
}
