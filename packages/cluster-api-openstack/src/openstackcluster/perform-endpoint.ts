import { isNotImplemented, type CloudInformer, type LoadBalancer, type LoadBalancerCreate } from "@causeway/openstack";
import type { Session } from "../identity/sessions.ts";
import { lookFor, tell, type Performers, type SessionActor } from "./actor.ts";

type Name =
  | "create-load-balancer"
  | "create-listener"
  | "update-listener"
  | "replace-members"
  | "delete-load-balancer"
  | "create-floating-ip"
  | "associate-floating-ip"
  | "delete-floating-ip";

/** Load balancer and floating IP of the API endpoint. */
export const endpointSteps: Performers<Name, SessionActor> = {
  async "create-load-balancer"({ body }, actor, signal) {
    const { watch } = actor.session;
    const made = await createWhole(body, actor.session, signal);
    watch.loadBalancers.observe(made);
    tell(actor, "SuccessfulCreateLoadBalancer", `Created load balancer ${made.name} with id ${made.id}`);
  },
  async "create-listener"({ body }, actor, signal) {
    const { cloud, watch } = actor.session;
    const { listeners } = cloud.loadBalancing;
    const { loadbalancer_id: id, protocol_port: port } = body;
    const recover = async () =>
      (await listeners.all({ loadbalancer_id: id }, { signal })).find((l) => l.protocol_port === port);
    watch.listeners.observe(await listeners.create(body, { signal, recover }));
    changing(watch.loadBalancers, id);
    tell(actor, "SuccessfulCreateListener", `Created listener for port ${port}`);
  },
  async "update-listener"({ listener, allowedCidrs }, actor, signal) {
    const { cloud, watch } = actor.session;
    const body = { allowed_cidrs: allowedCidrs };
    watch.listeners.observe(await cloud.loadBalancing.listeners.update(listener.id, body, { signal }));
    for (const { id } of listener.loadbalancers) changing(watch.loadBalancers, id);
    tell(actor, "SuccessfulUpdateListener", `Set the allowed CIDRs of listener ${listener.name}`);
  },
  async "replace-members"({ poolId, loadBalancerId, members }, actor, signal) {
    const { cloud, watch } = actor.session;
    await cloud.loadBalancing.replaceMembers(poolId, members, { signal });
    actor.session.membersChanged(poolId);
    changing(watch.loadBalancers, loadBalancerId);
    tell(actor, "SuccessfulUpdateMembers", `The API load balancer has ${members.length} members`);
  },
  async "delete-load-balancer"({ id, name }, actor, signal) {
    const { cloud, watch } = actor.session;
    await cloud.loadBalancing.deleteLoadBalancer(id, { cascade: true, signal });
    const known = watch.loadBalancers.get(id);
    // It goes in its own time, and holds its port until then.
    if (known) watch.loadBalancers.observe({ ...known, provisioning_status: "PENDING_DELETE" });
    tell(actor, "SuccessfulDeleteLoadBalancer", `Deleting load balancer ${name} with id ${id}`);
  },
  async "create-floating-ip"({ body }, actor, signal) {
    const { floatingIps } = actor.session.cloud.network;
    const query = { floating_network_id: body.floating_network_id };
    const made = await floatingIps.create(
      body,
      lookFor((s) => floatingIps.all(query, { signal: s }), body, signal),
    );
    actor.session.watch.floatingIps.observe(made);
    tell(actor, "SuccessfulCreateFloatingIP", `Created floating IP ${made.floating_ip_address}`);
  },
  async "associate-floating-ip"({ id, portId, address }, actor, signal) {
    const { cloud, watch } = actor.session;
    watch.floatingIps.observe(await cloud.network.floatingIps.update(id, { port_id: portId }, { signal }));
    tell(actor, "SuccessfulAssociateFloatingIP", `Attached floating IP ${address} to port ${portId}`);
  },
  async "delete-floating-ip"({ id, address }, actor, signal) {
    await actor.session.cloud.network.floatingIps.delete(id, { signal });
    actor.session.watch.floatingIps.forget(id);
    tell(actor, "SuccessfulDeleteFloatingIP", `Deleted floating IP ${address}`);
  },
};

function changing(informer: CloudInformer<LoadBalancer>, id: string): void {
  const known = informer.get(id);
  if (known) informer.observe({ ...known, provisioning_status: "PENDING_UPDATE" });
}

/** Some providers have no health monitors, and refuse the whole tree for one. */
async function createWhole(body: LoadBalancerCreate, { cloud }: Session, signal: AbortSignal): Promise<LoadBalancer> {
  const { loadBalancers } = cloud.loadBalancing;
  const options = lookFor((s) => loadBalancers.all({ name: body.name }, { signal: s }), body, signal);
  try {
    return await loadBalancers.create(body, options);
  } catch (error) {
    if (!isNotImplemented(error)) throw error;
    return loadBalancers.create({ ...body, listeners: withoutMonitors(body) }, options);
  }
}

function withoutMonitors({ listeners = [] }: LoadBalancerCreate): NonNullable<LoadBalancerCreate["listeners"]> {
  return listeners.map((listener) => {
    if (!listener.default_pool) return listener;
    const { healthmonitor: _, ...pool } = listener.default_pool;
    return { ...listener, default_pool: pool };
  });
}
