import { performTree, type TreeStep } from "@causeway/octavia-tree";
import { isNotImplemented, type CloudWatch, type LoadBalancer, type LoadBalancerCreate } from "@causeway/openstack";
import type { Session } from "../identity/sessions.ts";
import { searchFor, emit, type Performers, type SessionPerformContext } from "./perform-context.ts";

type Name =
  | "create-load-balancer"
  | "change-load-balancer"
  | "delete-load-balancer"
  | "create-floating-ip"
  | "associate-floating-ip"
  | "delete-floating-ip";

/** Load balancer and floating IP of the API endpoint. */
export const endpointSteps: Performers<Name, SessionPerformContext> = {
  async "create-load-balancer"({ body }, using, signal) {
    const { watch } = using.session;
    const made = await createWhole(body, using.session, signal);
    watch.loadBalancers.observe(made);
    emit(using, "SuccessfulCreateLoadBalancer", `Created load balancer ${made.name} with id ${made.id}`);
  },
  async "change-load-balancer"({ loadBalancerId, change }, using, signal) {
    const { watch } = using.session;
    try {
      await changeTree(change, using.session, signal);
    } catch (error) {
      if (change.type !== "create-monitor" || !isNotImplemented(error)) throw error;
      noteMissingMonitors(using.session, watch.loadBalancers.get(loadBalancerId));
      return;
    }
    const known = watch.loadBalancers.get(loadBalancerId);
    // The change makes it immutable for a while.
    if (known) watch.loadBalancers.observe({ ...known, provisioning_status: "PENDING_UPDATE" });
    const { reason, message } = reportOf(change, watch);
    emit(using, reason, message);
  },
  async "delete-load-balancer"({ id, name }, using, signal) {
    const { cloud, watch } = using.session;
    await cloud.loadBalancing.deleteLoadBalancer(id, { cascade: true, signal });
    const known = watch.loadBalancers.get(id);
    // It goes in its own time, and holds its port until then.
    if (known) watch.loadBalancers.observe({ ...known, provisioning_status: "PENDING_DELETE" });
    emit(using, "SuccessfulDeleteLoadBalancer", `Deleting load balancer ${name} with id ${id}`);
  },
  async "create-floating-ip"({ body }, using, signal) {
    const { floatingIps } = using.session.cloud.network;
    const query = { floating_network_id: body.floating_network_id };
    const made = await floatingIps.create(
      body,
      searchFor((s) => floatingIps.all(query, { signal: s }), body, signal),
    );
    using.session.watch.floatingIps.observe(made);
    emit(using, "SuccessfulCreateFloatingIP", `Created floating IP ${made.floating_ip_address}`);
  },
  async "associate-floating-ip"({ id, portId, address }, using, signal) {
    const { cloud, watch } = using.session;
    watch.floatingIps.observe(await cloud.network.floatingIps.update(id, { port_id: portId }, { signal }));
    emit(using, "SuccessfulAssociateFloatingIP", `Attached floating IP ${address} to port ${portId}`);
  },
  async "delete-floating-ip"({ id, address }, using, signal) {
    await using.session.cloud.network.floatingIps.delete(id, { signal });
    using.session.watch.floatingIps.forget(id);
    emit(using, "SuccessfulDeleteFloatingIP", `Deleted floating IP ${address}`);
  },
};

/** What the cloud responds is in the lists at once; members are read again after a change. */
async function changeTree(change: TreeStep, session: Session, signal: AbortSignal): Promise<void> {
  const { cloud, watch } = session;
  await performTree(change, {
    cloud,
    watch,
    details: { forget: (poolId) => session.membersChanged(poolId), wrote: () => {} },
    pools: [],
    signal,
    written: {
      listener: (listener) => watch.listeners.observe(listener),
      pool: (pool) => watch.pools.observe(pool),
      monitor: ({ id, pools }) => {
        for (const pool of pools.flatMap((named) => watch.pools.get(named.id) ?? []))
          watch.pools.observe({ ...pool, healthmonitor_id: id });
      },
    },
  });
}

/** The next plan does without a monitor. */
function noteMissingMonitors({ withoutMonitors }: Session, lb: Pick<LoadBalancer, "provider"> | undefined): void {
  if (lb) withoutMonitors.add(lb.provider);
}

function reportOf(change: TreeStep, { listeners }: CloudWatch): { reason: string; message: string } {
  switch (change.type) {
    case "create-listener":
      return {
        reason: "SuccessfulCreateListener",
        message: `Created listener for port ${change.body.protocol_port}`,
      };
    case "update-listener": {
      const { allowed_cidrs: cidrs } = change.change;
      const name = listeners.get(change.id)?.name ?? change.id;
      const message = cidrs ? `Set the allowed CIDRs of listener ${name}` : `Set the default pool of listener ${name}`;
      return { reason: "SuccessfulUpdateListener", message };
    }
    case "create-pool":
      return { reason: "SuccessfulCreatePool", message: `Created pool ${change.body.name}` };
    case "create-monitor":
      return { reason: "SuccessfulCreateMonitor", message: `Created health monitor ${change.body.name}` };
    case "replace-members":
      return {
        reason: "SuccessfulUpdateMembers",
        message: `The API load balancer has ${change.members.length} members`,
      };
    default:
      return { reason: "SuccessfulUpdateMembers", message: "Changed a member of the API load balancer" };
  }
}

/** Some providers have no health monitors, and refuse the whole tree for one. */
async function createWhole(body: LoadBalancerCreate, session: Session, signal: AbortSignal): Promise<LoadBalancer> {
  const { loadBalancers } = session.cloud.loadBalancing;
  const options = searchFor((s) => loadBalancers.all({ name: body.name }, { signal: s }), body, signal);
  try {
    return await loadBalancers.create(body, options);
  } catch (error) {
    if (!isNotImplemented(error)) throw error;
    const made = await loadBalancers.create({ ...body, listeners: withoutMonitors(body) }, options);
    noteMissingMonitors(session, made);
    return made;
  }
}

function withoutMonitors({ listeners = [] }: LoadBalancerCreate): NonNullable<LoadBalancerCreate["listeners"]> {
  return listeners.map((listener) => {
    if (!listener.default_pool) return listener;
    const { healthmonitor: _, ...pool } = listener.default_pool;
    return { ...listener, default_pool: pool };
  });
}
