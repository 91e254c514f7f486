import type { Cloud, CloudWatch, HealthMonitor, Listener, Member, Pool } from "@causeway/openstack";
import { asWritten, type ObservedPool, type PoolDetails } from "./pool-details.ts";
import { placed, withoutPolicy, withPolicy, withRule, type PolicyDetails } from "./policy-details.ts";
import { ruleText } from "./policy-key.ts";
import type { MemberStep, MonitorStep, PolicyStep, TreeStep } from "./steps.ts";

/** What the steps of one load balancer are performed with. */
export interface PerformTree {
  readonly cloud: Cloud;
  readonly watch: Pick<CloudWatch, "pools">;
  readonly details: Pick<PoolDetails, "forget" | "wrote">;
  /** As they were observed. Of a pool that is not among them, what was written is read back. */
  readonly pools: readonly ObservedPool[];
  readonly signal: AbortSignal;
  /** Receives a part as the cloud responded to its create or update. */
  readonly written?: {
    readonly listener: (listener: Listener) => void;
    readonly pool: (pool: Pool) => void;
    readonly monitor: (monitor: HealthMonitor) => void;
  };
}

/**
 * Sends one change. A create whose answer was lost is searched for first. What was read of a pool is forgotten before
 * the pool changes.
 */
export async function performTree(step: TreeStep, using: PerformTree): Promise<void> {
  const { cloud, details, signal, written } = using;
  const { loadBalancing } = cloud;
  switch (step.type) {
    case "update-load-balancer":
      await loadBalancing.loadBalancers.update(step.id, step.change, { signal });
      return;
    case "create-listener": {
      const { loadbalancer_id, protocol, protocol_port } = step.body;
      const query = { loadbalancer_id, protocol_port };
      const recover = async () =>
        (await loadBalancing.listeners.all(query, { signal })).find((l) => l.protocol === protocol);
      const made = await loadBalancing.listeners.create(step.body, { signal, recover });
      written?.listener(made);
      return;
    }
    case "update-listener": {
      const changed = await loadBalancing.listeners.update(step.id, step.change, { signal });
      written?.listener(changed);
      return;
    }
    case "delete-listener":
      await loadBalancing.listeners.delete(step.id, { signal });
      return;
    case "create-pool":
      return createPool(step, using);
    case "update-pool": {
      const changed = await loadBalancing.pools.update(step.id, step.change, { signal });
      written?.pool(changed);
      return;
    }
    case "delete-pool":
      details.forget(step.id);
      await loadBalancing.pools.delete(step.id, { signal });
      return;
    case "replace-members":
    case "create-member":
    case "update-member":
    case "delete-member":
      return performMembers(step, using);
    default:
      return performMonitor(step, using);
  }
}

/** Of a listener, or of the load balancer alone. */
async function createPool(
  { body }: Extract<TreeStep, { type: "create-pool" }>,
  { cloud, signal, written }: PerformTree,
): Promise<void> {
  const { pools } = cloud.loadBalancing;
  const { name = "", listener_id, loadbalancer_id } = body;
  const recover = async () =>
    (await pools.all({ name }, { signal })).find((p) =>
      listener_id === undefined
        ? p.loadbalancers.some((l) => l.id === loadbalancer_id)
        : p.listeners.some((l) => l.id === listener_id),
    );
  const made = await pools.create(body, { signal, recover });
  written?.pool(made);
}

/** What was written is known: it is not read back. */
async function performMembers(step: MemberStep, using: PerformTree): Promise<void> {
  const { cloud, details, pools, watch, signal } = using;
  const members = cloud.loadBalancing.members(step.poolId);
  const pool = pools.find((p) => p.pool.id === step.poolId);
  const before = pool?.members ?? [];
  details.forget(step.poolId);
  const wrote = (now: readonly Member[]): void => {
    if (!pool) return;
    // The list's copy changes, too: a list that shows the state before the write is then a difference.
    const written = { ...pool.pool, members: now.map(({ id }) => ({ id })) };
    watch.pools.observe(written);
    details.wrote({ ...pool, pool: written }, now);
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
      // A member that a batch created has no id here. It is forgotten now, and read before the next attempt.
      if (step.id === "") return;
      await members.delete(step.id, { signal });
      return wrote(before.filter((member) => member.id !== step.id));
  }
}

async function performMonitor(step: MonitorStep, { cloud, details, signal, written }: PerformTree): Promise<void> {
  const { healthMonitors } = cloud.loadBalancing;
  switch (step.type) {
    case "create-monitor": {
      const { name = "", pool_id } = step.body;
      const recover = async () =>
        (await healthMonitors.all({ name }, { signal })).find((m) => m.pools.some((p) => p.id === pool_id));
      details.forget(pool_id);
      const made = await healthMonitors.create(step.body, { signal, recover });
      written?.monitor(made);
      return;
    }
    case "update-monitor": {
      details.forget(step.poolId);
      const changed = await healthMonitors.update(step.id, step.change, { signal });
      written?.monitor(changed);
      return;
    }
    case "delete-monitor":
      details.forget(step.poolId);
      await healthMonitors.delete(step.id, { signal });
      return;
  }
}

/**
 * Sends one change of an L7 policy or its rules; when it fails, the listener's policies are read again before the next.
 */
export async function performPolicy(
  step: PolicyStep,
  using: Pick<PerformTree, "cloud" | "signal"> & { readonly policies: PolicyDetails },
): Promise<void> {
  const { policies } = using;
  try {
    await changePolicy(step, using);
  } catch (error) {
    policies.forget(step.listenerId);
    throw error;
  }
}

async function changePolicy(
  step: PolicyStep,
  { cloud, policies, signal }: Pick<PerformTree, "cloud" | "signal"> & { readonly policies: PolicyDetails },
): Promise<void> {
  const { l7Policies } = cloud.loadBalancing;
  switch (step.type) {
    case "create-policy": {
      const { listener_id, name = "" } = step.body;
      const recover = async () =>
        (await l7Policies.all({ listener_id, name }, { signal })).find(
          (p) => p.provisioning_status !== "PENDING_DELETE" && p.provisioning_status !== "DELETED",
        );
      const made = await l7Policies.create(step.body, { signal, recover });
      return policies.wrote(step.listenerId, (before) => withPolicy(before, made));
    }
    case "create-rule": {
      const rules = cloud.loadBalancing.l7Rules(step.policyId);
      const recover = async () =>
        (await rules.all({}, { signal })).find((rule) => ruleText(rule) === ruleText(step.body));
      const made = await rules.create(step.body, { signal, recover });
      return policies.wrote(step.listenerId, (before) => withRule(before, step.policyId, made));
    }
    case "update-policy": {
      const { position, ...fields } = step.change;
      await l7Policies.update(step.id, step.change, { signal });
      return policies.wrote(step.listenerId, (before) => {
        const changed = before.map((each) =>
          each.policy.id === step.id ? { ...each, policy: { ...each.policy, ...fields } } : each,
        );
        return position === undefined ? changed : placed(changed, step.id, position);
      });
    }
    case "delete-policy":
      await l7Policies.delete(step.id, { signal });
      return policies.wrote(step.listenerId, (before) => withoutPolicy(before, step.id));
  }
}
