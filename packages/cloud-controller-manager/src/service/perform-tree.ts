import type { Doing } from "./doing.ts";
import type { TreeStep } from "./steps.ts";

type PartStep = Exclude<TreeStep, { type: "delete-load-balancer" }>;
type MonitorStep = Extract<PartStep, { type: "create-monitor" | "update-monitor" | "delete-monitor" }>;

/** One change of a load balancer's part. What was read of a pool before is forgotten before it changes. */
export async function performTree(step: PartStep, doing: Doing): Promise<void> {
  const { using, signal } = doing;
  const { loadBalancing } = using.cloud;
  switch (step.type) {
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
      await loadBalancing.pools.update(step.id, step.change, { signal });
      return;
    case "delete-pool":
      using.details.forget(step.id);
      await loadBalancing.pools.delete(step.id, { signal });
      return;
    case "replace-members":
      using.details.forget(step.poolId);
      await loadBalancing.replaceMembers(step.poolId, step.members, { signal });
      return;
    case "create-member": {
      const { address, protocol_port } = step.body;
      const members = loadBalancing.members(step.poolId);
      const recover = async () => (await members.all({ address, protocol_port }, { signal }))[0];
      using.details.forget(step.poolId);
      await members.create(step.body, { signal, recover });
      return;
    }
    case "delete-member":
      using.details.forget(step.poolId);
      await loadBalancing.members(step.poolId).delete(step.id, { signal });
      return;
    default:
      return performMonitor(step, doing);
  }
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
