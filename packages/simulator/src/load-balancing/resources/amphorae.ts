import type { JsonObject } from "../../kernel/json.ts";
import { listed } from "./flavors-and-zones.ts";
import { fault, notFound } from "../errors.ts";
import { change, checkMutable, renewAmphora } from "../rules/provisioning.ts";
import type { Amphora, BalancerState } from "../model.ts";
import { checkAdmin, show, type BalancerApp, type BalancerRequest } from "../kit/routes.ts";

const path = "/:v{v2(?:\\.0)?}/octavia/amphorae";

/**
 * What amphora load balancers would run on: one each, which a failover replaces. For administrators; there is no server
 * of Nova's.
 */
export function mountAmphorae(app: BalancerApp, state: BalancerState): void {
  const found = (c: BalancerRequest, missing = "Amphora"): Amphora => {
    checkAdmin(c.var.caller);
    const id = c.req.param("id") ?? "";
    const amphora = state.amphorae.get(id);
    if (!amphora) throw notFound(missing, id);
    return amphora;
  };
  app.get(path, (c) => {
    checkAdmin(c.var.caller);
    const view = (row: Amphora) => amphoraView(state, row);
    return listed(c, { plural: "amphorae", links: "amphorae_links" }, state.amphorae.all().map(view));
  });
  app.get(`${path}/:id`, (c) => show(c, "amphora", amphoraView(state, found(c))));
  app.get(`${path}/:id/stats`, (c) => {
    const { id, loadbalancer_id } = found(c, "Amphora stats for");
    const none = { active_connections: 0, bytes_in: 0, bytes_out: 0, request_errors: 0, total_connections: 0 };
    const listeners = state.listeners.by("loadbalancer_id", loadbalancer_id);
    if (listeners.length === 0) throw fault(404, `Amphora stats for ${id} not found.`);
    return c.json({ amphora_stats: listeners.map((l) => ({ ...none, id, listener_id: l.id, loadbalancer_id })) });
  });
  app.put(`${path}/:id/config`, (c) => {
    found(c);
    return c.body(null, 202);
  });
  app.put(`${path}/:id/failover`, (c) => {
    const balancer = state.loadBalancers.get(found(c).loadbalancer_id);
    if (!balancer) return c.body(null, 202);
    checkMutable(balancer);
    state.kernel.atomic(() => {
      renewAmphora(state, balancer);
      change(state, balancer, []);
    });
    return c.body(null, 202);
  });
}

const working: Readonly<Record<string, string>> = {
  PENDING_CREATE: "BOOTING",
  PENDING_DELETE: "PENDING_DELETE",
  ERROR: "ERROR",
};

function amphoraView(state: BalancerState, row: Amphora): JsonObject {
  const balancer = state.loadBalancers.get(row.loadbalancer_id);
  return {
    id: row.id,
    loadbalancer_id: row.loadbalancer_id,
    compute_id: row.compute_id,
    lb_network_ip: row.lb_network_ip,
    vrrp_ip: null,
    ha_ip: balancer?.vip_address ?? null,
    vrrp_port_id: row.vrrp_port_id,
    ha_port_id: balancer?.vip_port_id ?? null,
    cert_expiration: null,
    cert_busy: false,
    role: "STANDALONE",
    status: working[balancer?.provisioning_status ?? ""] ?? "ALLOCATED",
    vrrp_interface: null,
    vrrp_id: 1,
    vrrp_priority: null,
    cached_zone: balancer?.availability_zone ?? "nova",
    created_at: row.created_at,
    updated_at: row.updated_at,
    image_id: null,
    compute_flavor: null,
  };
}
