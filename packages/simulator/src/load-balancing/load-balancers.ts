import type { Caller } from "../kernel/interface.ts";
import { denied, fault, invalid } from "./errors.ts";
import {
  common,
  given,
  ip,
  orNull,
  owner,
  readCreate,
  readUpdate,
  text,
  unwrap,
  uuid,
  type InputOf,
} from "./fields.ts";
import { graphFields, graphView, makeGraph } from "./graph.ts";
import { noTraffic } from "./listeners.ts";
import { checkProvider } from "./providers.ts";
import { begin, change, checkMutable, end } from "./provisioning.ts";
import { born, type BalancerState, type LoadBalancer } from "./resources.ts";
import { checkQuota, checkWriter, found, list, readBody, show, type BalancerApp } from "./routes.ts";
import { takeVip } from "./vip.ts";
import { balancerView, statusTree } from "./views.ts";

const fields = {
  ...common,
  ...owner,
  ...graphFields,
  description: { read: text },
  vip_address: { read: orNull(ip), put: false },
  vip_port_id: { read: orNull(uuid), put: false },
  vip_subnet_id: { read: orNull(uuid), put: false },
  vip_network_id: { read: orNull(uuid), put: false },
  vip_qos_policy_id: { read: orNull(uuid) },
  provider: { read: orNull(text), put: false },
  flavor_id: { read: orNull(uuid), put: false },
  availability_zone: { read: orNull(text), put: false },
} as const;
type Input = InputOf<typeof fields>;

const path = "/:v{v2(?:\\.0)?}/lbaas/loadbalancers";
const argument = "load_balancer";

/** Routes of load balancers: also their status tree, statistics and failover. */
export function mountLoadBalancers(app: BalancerApp, state: BalancerState): void {
  const kind = { label: "Load Balancer", find: (id: string) => state.loadBalancers.get(id) };
  const view = (row: LoadBalancer) => balancerView(state, row);
  app.get(path, (c) => list(c, { plural: "loadbalancers", rows: state.loadBalancers.all(), view }));
  app.get(`${path}/:id`, (c) => show(c, "loadbalancer", view(found(kind, c.var.caller, c.req.param("id")))));
  for (const word of ["status", "statuses"]) {
    app.get(`${path}/:id/${word}`, (c) => {
      const row = found(kind, c.var.caller, c.req.param("id"));
      return c.json({ statuses: { loadbalancer: statusTree(state, row) } });
    });
  }
  app.get(`${path}/:id/stats`, (c) => {
    found(kind, c.var.caller, c.req.param("id"));
    return c.json({ stats: noTraffic });
  });
  app.post(path, async (c) => {
    checkWriter(c.var.caller);
    const body = unwrap(await readBody(c), "loadbalancer", argument);
    const input = readCreate(fields, body, `${argument}.loadbalancer`);
    const row = state.kernel.atomic(() => create(state, c.var.caller, input));
    return c.json({ loadbalancer: { ...view(row), ...graphView(state, row) } }, 201);
  });
  app.put(`${path}/:id`, async (c) => {
    checkWriter(c.var.caller);
    const body = unwrap(await readBody(c), "loadbalancer", argument);
    const input = readUpdate(fields, body, `${argument}.loadbalancer`);
    const row = found(kind, c.var.caller, c.req.param("id"));
    checkMutable(row);
    return c.json({ loadbalancer: view(state.kernel.atomic(() => update(state, row, input))) });
  });
  app.put(`${path}/:id/failover`, (c) => {
    const { caller } = c.var;
    if (!caller.isAdmin) throw denied();
    const row = found(kind, caller, c.req.param("id"));
    if (row.provisioning_status.startsWith("PENDING")) checkMutable(row);
    state.kernel.atomic(() => change(state, row, []));
    return c.body(null, 202);
  });
  app.delete(`${path}/:id`, (c) => {
    checkWriter(c.var.caller);
    const row = found(kind, c.var.caller, c.req.param("id"));
    const cascade = c.req.query("cascade")?.toLowerCase() === "true";
    state.kernel.atomic(() => remove(state, row, cascade));
    return c.body(null, 204);
  });
}

function create(state: BalancerState, caller: Caller, input: Input): LoadBalancer {
  const { kernel } = state;
  const projectId = input.project_id ?? input.tenant_id ?? caller.projectId;
  if (projectId !== caller.projectId && !caller.isAdmin) throw denied();
  if (!input.vip_port_id && !input.vip_network_id && !input.vip_subnet_id) {
    throw invalid("VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.");
  }
  checkQuota(state, projectId, {
    quota: "load_balancer",
    label: "Load Balancer",
    used: state.loadBalancers.by("project_id", projectId).length,
  });
  const provider = checkProvider(input.provider ?? "amphora");
  // This cloud has neither flavors nor zones for load balancers.
  if (input.flavor_id) throw fault(400, `The selected flavor is not allowed in this deployment: ${input.flavor_id}`);
  if (input.availability_zone) throw invalid("Invalid availability zone.");
  const base = born(kernel, projectId, input);
  const vip = takeVip(state, caller, { ...input, id: base.id, projectId, provider });
  const row = state.loadBalancers.insert({
    ...base,
    ...vip,
    description: input.description ?? "",
    vip_qos_policy_id: input.vip_qos_policy_id ?? null,
    provider,
    flavor_id: null,
    availability_zone: null,
  });
  const children = makeGraph(state, row, { listeners: input.listeners ?? [], pools: input.pools ?? [] });
  begin(state, row, children);
  return row;
}

function update(state: BalancerState, row: LoadBalancer, input: Input): LoadBalancer {
  const { project_id: _p, listeners: _l, pools: _s, provider: _v, ...rest } = given(input);
  const { vip_address: _a, vip_port_id: _i, vip_subnet_id: _u, vip_network_id: _n, ...wanted } = rest;
  const changed = state.loadBalancers.update(row.id, wanted);
  change(state, changed, []);
  return state.loadBalancers.get(row.id) ?? changed;
}

function remove(state: BalancerState, row: LoadBalancer, cascade: boolean): void {
  const listeners = state.listeners.by("loadbalancer_id", row.id);
  const pools = state.pools.by("loadbalancer_id", row.id);
  if (!cascade && listeners.length + pools.length > 0) {
    throw invalid(`Cannot delete Load Balancer ${row.id} - it has children`);
  }
  end(state, row);
  for (const listener of listeners) state.listeners.update(listener.id, { provisioning_status: "PENDING_DELETE" });
  for (const pool of pools) state.pools.update(pool.id, { provisioning_status: "PENDING_DELETE" });
}
