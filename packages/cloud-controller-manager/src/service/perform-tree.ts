import { messageOf } from "@causeway/foundation";
import { isBadRequest, isForbidden, isNotImplemented, isOpenStackNotFound, type Member } from "@causeway/openstack";
import type { Doing } from "./doing.ts";
import { brokenKey, failoverKey, methodKey, whenBroken, whenRefused } from "./holds.ts";
import { asWritten } from "./pool-details.ts";
import type { MemberStep, TreeStep } from "./steps.ts";

type PartStep = Exclude<TreeStep, { type: "delete-load-balancer" }>;
type MonitorStep = Extract<PartStep, { type: "create-monitor" | "update-monitor" | "delete-monitor" }>;

/** One change of a load balancer's part. What was read of a pool before is forgotten before it changes. */
export async function performTree(step: PartStep, doing: Doing): Promise<void> {
  const { using, signal } = doing;
  const { loadBalancing } = using.cloud;
  switch (step.type) {
    case "failover":
      return failOver(step, doing);
    case "update-load-balancer":
      await loadBalancing.loadBalancers.update(step.id, step.change, { signal });
      return;
    case "create-listener": {
      const { loadbalancer_id, protocol, protocol_port } = step.body;
      const query = { loadbalancer_id, protocol_port };
      const recover = async () =>
        (await loadBalancing.listeners.all(query, { signal })).find((l) => l.protocol === protocol);
      await loadBalancing.listeners.create(step.body, { signal, recover });
      return;
    }
    case "update-listener":
      await loadBalancing.listeners.update(step.id, step.change, { signal });
      return;
    case "delete-listener":
      await loadBalancing.listeners.delete(step.id, { signal });
      return;
    case "create-pool": {
      const { name = "", listener_id } = step.body;
      const recover = async () =>
        (await loadBalancing.pools.all({ name }, { signal })).find((p) =>
          p.listeners.some((l) => l.id === listener_id),
        );
      await loadBalancing.pools.create(step.body, { signal, recover });
      return;
    }
    case "update-pool":
      return updatePool(step, doing);
    case "delete-pool":
      using.details.forget(step.id);
      await loadBalancing.pools.delete(step.id, { signal });
      return;
    case "replace-members":
    case "create-member":
    case "update-member":
    case "delete-member":
      return performMembers(step, doing);
    default:
      return performMonitor(step, doing);
  }
}

/** What was written is known: it is not read back. */
async function performMembers(step: MemberStep, { using, observed, signal }: Doing): Promise<void> {
  const { cloud, details } = using;
  const members = cloud.loadBalancing.members(step.poolId);
  const pool = observed.pools.find((p) => p.pool.id === step.poolId);
  const before = pool?.members ?? [];
  details.forget(step.poolId);
  const wrote = (now: readonly Member[]): void => {
    if (!pool) return;
    // The list's copy is told, too: one that shows again what was before the write is then a change to look at.
    const told = { ...pool.pool, members: now.map(({ id }) => ({ id })) };
    using.watch.pools.observe(told);
    details.wrote({ ...pool, pool: told }, now);
  };
  switch (step.type) {
    case "replace-members":
      await cloud.loadBalancing.replaceMembers(step.poolId, step.members, { signal });
      return wrote(asWritten(before, step.members));
    case "create-member": {
      const { address, protocol_port } = step.body;
      const recover = async () => (await members.all({ address, protocol_port }, { signal }))[0];
      const made = await members.create(step.body, { signal, recover });
      return wrote([...before, { ...made, provisioning_status: "ACTIVE" }]);
    }
    case "update-member":
      if (step.id === "") return;
      await members.update(step.id, step.change, { signal });
      return wrote(before.map((member) => (member.id === step.id ? { ...member, ...step.change } : member)));
    case "delete-member":
      // One that a batch made has no id here: it has now been forgotten, and is read before the next try.
      if (step.id === "") return;
      await members.delete(step.id, { signal });
      return wrote(before.filter((member) => member.id !== step.id));
  }
}

/** A method that the provider refuses is told, and not asked for again: everything else of the Service goes on. */
async function updatePool(
  { id, change }: Extract<PartStep, { type: "update-pool" }>,
  { using, observed, signal }: Doing,
): Promise<void> {
  try {
    await using.cloud.loadBalancing.pools.update(id, change, { signal });
  } catch (error) {
    const { lb_algorithm: method } = change;
    if (method === undefined || (!isBadRequest(error) && !isNotImplemented(error))) throw error;
    using.holds.hold(methodKey(id, method), whenRefused);
    const message = `the load balancer provider refused method ${method}: ${messageOf(error)}`;
    using.events.event(observed.service, { type: "Warning", reason: "LoadBalancerLbMethodUnknown", message });
  }
}

/** In most clouds for operators only: refused, it is not asked for again. Accepted, it is not repeated too soon. */
async function failOver(
  { id, event }: Extract<PartStep, { type: "failover" }>,
  { using, observed, signal }: Doing,
): Promise<void> {
  try {
    await using.cloud.loadBalancing.failover(id, { signal });
  } catch (error) {
    if (!isForbidden(error) && !isNotImplemented(error) && !isBadRequest(error) && !isOpenStackNotFound(error))
      throw error;
    using.holds.hold(failoverKey(id), whenRefused);
    return;
  }
  using.events.event(observed.service, event);
  using.holds.hold(brokenKey(observed.lbName), whenBroken);
}

async function performMonitor(step: MonitorStep, { using, signal }: Doing): Promise<void> {
  const { healthMonitors } = using.cloud.loadBalancing;
  switch (step.type) {
    case "create-monitor": {
      const { name = "", pool_id } = step.body;
      const recover = async () =>
        (await healthMonitors.all({ name }, { signal })).find((m) => m.pools.some((p) => p.id === pool_id));
      using.details.forget(pool_id);
      await healthMonitors.create(step.body, { signal, recover });
      return;
    }
    case "update-monitor":
      using.details.forget(step.poolId);
      await healthMonitors.update(step.id, step.change, { signal });
      return;
    case "delete-monitor":
      using.details.forget(step.poolId);
      await healthMonitors.delete(step.id, { signal });
      return;
  }
}
