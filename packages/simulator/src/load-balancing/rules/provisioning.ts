import { closeRanks } from "./l7-order.ts";
import { driverOf } from "./drivers.ts";
import { fault, immutable } from "../errors.ts";
import { now, tableOf, type BalancerState, type LoadBalancer, type ProvisioningStatus } from "../model.ts";

const handler = "loadbalancer.settle";

/** What settles together: the load balancer's own action and the children it touched, as "kind:ID". */
interface Operation {
  readonly id: string;
  readonly verb: "create" | "update" | "delete";
  readonly children: readonly string[];
}

/** Registers the timers' handler; once, when the service is made. */
export function handleProvisioning(state: BalancerState): void {
  // The argument is what `schedule` wrote.
  state.kernel.timers.handler(handler, (argument) => settle(state, JSON.parse(argument) as Operation));
}

/** Gives a load balancer a new amphora in the place of the one that it may have. */
export function renewAmphora(state: BalancerState, { id }: LoadBalancer): void {
  const { kernel, amphorae } = state;
  const number =
    Math.max(
      9,
      ...amphorae.all().map(({ lb_network_ip: ip }) => 256 * Number(ip.split(".")[2]) + Number(ip.split(".")[3])),
    ) + 1;
  dropAmphorae(state, id);
  amphorae.insert({
    id: kernel.newId(),
    loadbalancer_id: id,
    compute_id: kernel.newId(),
    vrrp_port_id: kernel.newId(),
    lb_network_ip: `198.18.${Math.floor(number / 256)}.${number % 256}`,
    created_at: now(kernel),
    updated_at: now(kernel),
  });
}

function dropAmphorae({ amphorae }: BalancerState, balancer: string): void {
  for (const { id } of amphorae.by("loadbalancer_id", balancer)) amphorae.remove(id);
}

/** 409 unless the load balancer is ACTIVE: one change at a time, and none to one in ERROR. */
export function checkMutable(balancer: LoadBalancer): void {
  if (balancer.provisioning_status !== "ACTIVE") throw immutable(balancer.id);
}

/** Locks the load balancer for a change of children; they settle with it. Parents of a child are named as well. */
export function change(state: BalancerState, balancer: LoadBalancer, children: readonly string[]): void {
  state.loadBalancers.update(balancer.id, { provisioning_status: "PENDING_UPDATE" });
  for (const [table, id] of children.map((child) => split(state, child))) {
    if (table.get(id)?.provisioning_status === "ACTIVE") table.update(id, { provisioning_status: "PENDING_UPDATE" });
  }
  schedule(state, balancer, { id: balancer.id, verb: "update", children });
}

/** Begins the life of a load balancer and of the children created with it. */
export function begin(state: BalancerState, balancer: LoadBalancer, children: readonly string[]): void {
  if (driverOf(balancer.provider) === "amphora") renewAmphora(state, balancer);
  schedule(state, balancer, { id: balancer.id, verb: "create", children });
}

/** Begins the end of a load balancer; 409 while something is pending. */
export function end(state: BalancerState, balancer: LoadBalancer): void {
  const { id, provisioning_status: status } = balancer;
  if (status !== "ACTIVE" && status !== "ERROR") {
    throw fault(409, `Invalid state ${status} of loadbalancer resource ${id}`);
  }
  state.loadBalancers.update(id, { provisioning_status: "PENDING_DELETE" });
  schedule(state, balancer, { id, verb: "delete", children: [] });
}

function schedule(state: BalancerState, { provider }: LoadBalancer, operation: Operation): void {
  const delay = (of: string): number => state.kernel.delay(of);
  const kind = `loadbalancer.${driverOf(provider)}`;
  const members = operation.children.filter((child) => child.startsWith("member:")).length;
  const time = delay(`${kind}.${operation.verb}`) + members * delay(`${kind}.member`);
  state.kernel.timers.after(time, handler, JSON.stringify(operation));
}

function settle(state: BalancerState, { id, verb, children }: Operation): void {
  const balancer = state.loadBalancers.get(id);
  if (!balancer) return;
  const names = [balancer.name, id, balancer.provider];
  const outcome = state.kernel.outcome(`loadbalancer.${verb}`, ...names);
  if (outcome === "stuck") return;
  const status: ProvisioningStatus = outcome === "error" ? "ERROR" : "ACTIVE";
  if (verb === "delete" && status === "ACTIVE") return forget(state, balancer);
  for (const child of children) settleChild(state, child, status);
  state.loadBalancers.update(id, { provisioning_status: status, updated_at: now(state.kernel) });
}

function settleChild(state: BalancerState, child: string, status: ProvisioningStatus): void {
  const [table, id] = split(state, child);
  const row = table.get(id);
  if (!row) return;
  if (row.provisioning_status === "PENDING_DELETE" && status === "ACTIVE") removeChild(state, child);
  else table.update(id, { provisioning_status: status, updated_at: now(state.kernel) });
}

/** Removes a child with everything below it. */
export function removeChild(state: BalancerState, child: string): void {
  const [table, id] = split(state, child);
  if (child.startsWith("pool:")) {
    for (const member of state.members.by("pool_id", id)) state.members.remove(member.id);
    for (const monitor of state.monitors.by("pool_id", id)) state.monitors.remove(monitor.id);
    for (const listener of state.listeners.by("default_pool_id", id)) {
      state.listeners.update(listener.id, { default_pool_id: null });
    }
  }
  if (child.startsWith("listener:")) {
    for (const policy of state.policies.by("listener_id", id)) removeChild(state, `l7policy:${policy.id}`);
  }
  if (child.startsWith("l7policy:")) {
    for (const rule of state.rules.by("l7policy_id", id)) state.rules.remove(rule.id);
  }
  const listener = state.policies.get(id)?.listener_id;
  table.remove(id);
  if (listener !== undefined) closeRanks(state, listener);
}

function forget(state: BalancerState, balancer: LoadBalancer): void {
  for (const listener of state.listeners.by("loadbalancer_id", balancer.id))
    removeChild(state, `listener:${listener.id}`);
  for (const pool of state.pools.by("loadbalancer_id", balancer.id)) removeChild(state, `pool:${pool.id}`);
  dropAmphorae(state, balancer.id);
  if (balancer.owns_port) state.links.deletePort(balancer.vip_port_id);
  state.loadBalancers.remove(balancer.id);
}

function split(state: BalancerState, child: string) {
  const at = child.indexOf(":");
  return [tableOf(state, child.slice(0, at)), child.slice(at + 1)] as const;
}
