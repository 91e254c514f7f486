import {
  addFinalizer,
  removeFinalizer,
  Service,
  type EventRecorder,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { isImmutable, isOpenStackNotFound, type Cloud, type CloudWatch, type LoadBalancer } from "@causeway/openstack";
import { serviceFinalizer, type Observed } from "./gather.ts";
import type { PoolDetails } from "./pool-details.ts";
import type { Step } from "./steps.ts";
import type { TreeFreshness } from "./tree-freshness.ts";

export interface PerformWith {
  readonly client: KubernetesClient;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly events: EventRecorder;
  readonly details: PoolDetails;
  readonly freshness: TreeFreshness;
}

interface Doing {
  readonly using: PerformWith;
  readonly observed: Observed;
  readonly signal: AbortSignal;
}

/** Makes one step true. A load balancer that somebody else is changing just now is waited for: that is no error. */
export async function perform(using: PerformWith, step: Step, observed: Observed, signal: AbortSignal): Promise<void> {
  const doing: Doing = { using, observed, signal };
  if (await performKubernetes(step, doing)) return;
  if (await performAddress(step, doing)) return;
  if (step.type === "create-load-balancer") return createLoadBalancer(step, doing);
  const lb = observed.loadBalancers.find((l) => step.type !== "delete-load-balancer" || l.id === step.id);
  if (!lb) return;
  try {
    await performTree(step, doing);
  } catch (error) {
    if (!isImmutable(error)) throw error;
  }
  if (step.type !== "delete-load-balancer") using.freshness.touch(lb);
}

async function performKubernetes(step: Step, { using, observed, signal }: Doing): Promise<boolean> {
  const { service } = observed;
  const key = { namespace: service.metadata.namespace ?? "", name: service.metadata.name };
  switch (step.type) {
    case "add-finalizer":
      await addFinalizer(using.client, Service, service, { finalizer: serviceFinalizer, signal });
      return true;
    case "remove-finalizer":
      using.events.event(service, { type: "Normal", reason: "DeletedLoadBalancer", message: "Deleted load balancer" });
      await removeFinalizer(using.client, Service, service, { finalizer: serviceFinalizer, signal });
      return true;
    case "annotate":
      await using.client.patch(
        Service,
        key,
        { type: "merge", body: { metadata: { annotations: step.annotations } } },
        { signal },
      );
      return true;
    default:
      return false;
  }
}

async function performAddress(step: Step, { using, signal }: Doing): Promise<boolean> {
  const { floatingIps } = using.cloud.network;
  const cache = using.watch.floatingIps;
  switch (step.type) {
    case "create-floating-ip": {
      const body = {
        floating_network_id: step.networkId,
        port_id: step.portId,
        description: step.description,
        ...(step.subnetId === undefined ? {} : { subnet_id: step.subnetId }),
        ...(step.address === undefined ? {} : { floating_ip_address: step.address }),
      };
      const recover = async () => (await floatingIps.all({ port_id: step.portId }, { signal }))[0];
      cache.observe(await floatingIps.create(body, { signal, recover }));
      return true;
    }
    case "attach-floating-ip":
      cache.observe(await floatingIps.update(step.id, { port_id: step.portId }, { signal }));
      return true;
    case "detach-floating-ip":
      cache.observe(await floatingIps.update(step.id, { port_id: null }, { signal }));
      return true;
    case "delete-floating-ip":
      await floatingIps.delete(step.id, { signal });
      cache.forget(step.id);
      return true;
    default:
      return false;
  }
}

/** The POST of a large load balancer takes long, and a lost answer must not make a second: its name is looked for first. */
async function createLoadBalancer(
  step: Extract<Step, { type: "create-load-balancer" }>,
  { using, signal }: Doing,
): Promise<void> {
  const { loadBalancers } = using.cloud.loadBalancing;
  const recover = async () =>
    (await loadBalancers.all({ name: step.body.name }, { signal })).find(
      (lb) => !lb.provisioning_status.includes("DELETE"),
    );
  const made = await loadBalancers.create(step.body, { signal, recover });
  using.watch.loadBalancers.observe(made);
  using.watch.loadBalancers.hurry();
}

async function performTree(step: Step, doing: Doing): Promise<void> {
  const { using, signal } = doing;
  const { loadBalancing } = using.cloud;
  switch (step.type) {
    case "delete-load-balancer":
      return deleteLoadBalancer(step, doing);
    case "create-listener": {
      const query = { loadbalancer_id: step.body.loadbalancer_id, protocol_port: step.body.protocol_port };
      const recover = async () =>
        (await loadBalancing.listeners.all(query, { signal })).find((l) => l.protocol === step.body.protocol);
      await loadBalancing.listeners.create(step.body, { signal, recover });
      return;
    }
    case "update-listener":
      await loadBalancing.listeners.update(step.id, step.change, { signal });
      return;
    case "delete-listener":
      return deleteListener(step, doing);
    case "create-pool": {
      const recover = async () =>
        (await loadBalancing.pools.all({ name: step.body.name ?? "" }, { signal })).find((p) =>
          p.listeners.some((l) => l.id === step.body.listener_id),
        );
      await loadBalancing.pools.create(step.body, { signal, recover });
      return;
    }
    case "update-pool":
      await loadBalancing.pools.update(step.id, step.change, { signal });
      return;
    case "delete-pool":
      await loadBalancing.pools.delete(step.id, { signal });
      using.details.forget(step.id);
      return;
    case "replace-members":
      using.details.forget(step.poolId);
      await loadBalancing.replaceMembers(step.poolId, step.members, { signal });
      return;
    default:
      return performMonitor(step, doing);
  }
}

async function performMonitor(step: Step, { using, signal }: Doing): Promise<void> {
  const { healthMonitors } = using.cloud.loadBalancing;
  switch (step.type) {
    case "create-monitor": {
      const recover = async () =>
        (await healthMonitors.all({ name: step.body.name ?? "" }, { signal })).find((m) =>
          m.pools.some((p) => p.id === step.body.pool_id),
        );
      using.details.forget(step.body.pool_id);
      await healthMonitors.create(step.body, { signal, recover });
      return;
    }
    case "update-monitor":
      await healthMonitors.update(step.id, step.change, { signal });
      return;
    case "delete-monitor":
      using.details.forget(step.poolId);
      await healthMonitors.delete(step.id, { signal });
      return;
    default:
      return;
  }
}

async function deleteLoadBalancer(
  step: Extract<Step, { type: "delete-load-balancer" }>,
  { using, observed, signal }: Doing,
): Promise<void> {
  const event =
    step.reason === undefined
      ? ({ type: "Normal", reason: "DeletingLoadBalancer", message: "Deleting load balancer" } as const)
      : ({ type: "Warning", reason: "RecreatingLoadBalancer", message: step.reason } as const);
  using.events.event(observed.service, event);
  await using.cloud.loadBalancing.deleteLoadBalancer(step.id, { cascade: step.cascade, signal });
  const lb: LoadBalancer | undefined = using.watch.loadBalancers.get(step.id);
  if (lb) using.watch.loadBalancers.observe({ ...lb, provisioning_status: "PENDING_DELETE" });
  using.watch.loadBalancers.hurry();
}

/** The pool first: a listener's deletion leaves its pool behind. The listener follows once the load balancer is ACTIVE again. */
async function deleteListener(
  step: Extract<Step, { type: "delete-listener" }>,
  { using, signal }: Doing,
): Promise<void> {
  const { pools, listeners } = using.cloud.loadBalancing;
  if (step.poolId !== undefined && using.watch.pools.get(step.poolId) !== undefined) {
    using.details.forget(step.poolId);
    await pools.delete(step.poolId, { signal });
    return;
  }
  await listeners.delete(step.id, { signal }).catch((error: unknown) => {
    if (!isOpenStackNotFound(error)) throw error;
  });
}
