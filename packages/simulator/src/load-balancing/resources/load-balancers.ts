import type { Caller } from "../../kernel/interface.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { denied, fault, invalid, invalidField, noAction } from "../errors.ts";
import { common, given, ip, listOf, object, orNull, owner, text, uuid, words, type InputOf } from "../kit/fields.ts";
import { graphFields, graphView, makeGraph } from "./graph.ts";
import { noTraffic } from "./listeners.ts";
import { checkFailover, checkProvider } from "../rules/providers.ts";
import { chosenFlavorOrZone } from "../rules/flavors-and-zones.ts";
import { driverOf } from "../rules/drivers.ts";
import { begin, change, checkMutable, end, renewAmphora } from "../rules/provisioning.ts";
import { born, type BalancerState, type LoadBalancer } from "../model.ts";
import {
  checkAdmin,
  checkQuota,
  checkWriter,
  found,
  idOf,
  list,
  octavia,
  ROOT,
  shownFields,
  type BalancerApp,
  type BalancerEnv,
} from "../kit/routes.ts";
import { checkVip, takeVip, type AdditionalVip } from "../rules/vip.ts";
import { balancerView, statusTree } from "../views.ts";

const fields = {
  ...common,
  ...owner,
  ...graphFields,
  description: { read: words },
  vip_address: { read: orNull(ip), put: false },
  vip_port_id: { read: orNull(uuid), put: false },
  vip_subnet_id: { read: orNull(uuid), put: false },
  vip_network_id: { read: orNull(uuid), put: false },
  vip_qos_policy_id: { read: orNull(uuid) },
  provider: { read: orNull(text), put: false },
  flavor_id: { read: orNull(uuid), put: false },
  availability_zone: { read: orNull(text), put: false },
  additional_vips: { read: listOf(additionalVip), put: false },
} as const;
type Input = InputOf<typeof fields>;

function additionalVip(value: unknown, field: string): AdditionalVip {
  const vip = object(value, field);
  if (vip["subnet_id"] === undefined) throw invalidField("subnet_id", "None", "Mandatory field missing.");
  const address = vip["ip_address"];
  return {
    subnet_id: uuid(vip["subnet_id"], "subnet_id"),
    ...(address === undefined || address === null ? {} : { ip_address: ip(address, "ip_address") }),
  };
}

const path = `${ROOT}/loadbalancers`;

/** Routes of load balancers: also their status tree, statistics and failover. */
export function mountLoadBalancers(app: BalancerApp, state: BalancerState): void {
  const kind = { label: "Load Balancer", find: (id: string) => state.loadBalancers.get(id) };
  const view = (row: LoadBalancer) => balancerView(state, row);
  mountResource<BalancerEnv, LoadBalancer>(app, state.kernel, {
    ...octavia({ singular: "loadbalancer", plural: "loadbalancers", argument: "load_balancer", fields }),
    path,
    readsBodyFirst: true,
    permit(c, verb) {
      if (verb !== "list" && verb !== "show") checkWriter(c.var.caller);
    },
    find: (c) => found(kind, c.var.caller, idOf(c)),
    respondList: (c) => list(c, { plural: "loadbalancers", rows: state.loadBalancers.all(), view }),
    view: (c, row, verb) => shownFields(c, { ...view(row), ...(verb === "create" ? graphView(state, row) : {}) }, verb),
    create: (c, input) => create(state, c.var.caller, input as Input),
    update(_c, row, input) {
      checkMutable(row);
      return update(state, row, input as Input);
    },
    remove: (c, row) => remove(state, row, c.req.query("cascade")?.toLowerCase() === "true"),
  });
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
  app.put(`${path}/:id/failover`, (c) => {
    const { caller } = c.var;
    const row = found(kind, caller, c.req.param("id"));
    checkAdmin(caller);
    if (row.provisioning_status.startsWith("PENDING")) checkMutable(row);
    checkFailover(row);
    state.kernel.atomic(() => {
      renewAmphora(state, row);
      change(state, row, []);
    });
    return c.body(null, 202);
  });
}

function create(state: BalancerState, caller: Caller, input: Input): LoadBalancer {
  const { kernel } = state;
  const projectId = input.project_id ?? input.tenant_id ?? caller.projectId;
  if (projectId !== caller.projectId && !caller.isAdmin) throw denied();
  if (!input.vip_port_id && !input.vip_network_id && !input.vip_subnet_id) {
    throw invalid("VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.");
  }
  checkVip(state, caller, input);
  const { provider, flavor_id, availability_zone } = chosen(state, input);
  checkQuota(state, projectId, {
    quota: "load_balancer",
    label: "Load Balancer",
    used: state.loadBalancers.count("project_id", projectId),
  });
  const base = born(kernel, projectId, input);
  const vip = takeVip(state, caller, { ...input, id: base.id, projectId, provider });
  const row = state.loadBalancers.insert({
    ...base,
    ...vip,
    description: input.description ?? "",
    vip_qos_policy_id: input.vip_qos_policy_id ?? null,
    provider,
    flavor_id,
    availability_zone,
  });
  const children = makeGraph(state, row, { listeners: input.listeners ?? [], pools: input.pools ?? [] });
  begin(state, row, children);
  return row;
}

type Choice = Pick<LoadBalancer, "provider" | "flavor_id" | "availability_zone">;

/** The provider, by its name or by the flavor's, and what of flavors and zones it is to heed. */
function chosen({ flavors, zones }: BalancerState, input: Input): Choice {
  const flavor = input.flavor_id ? chosenFlavorOrZone(flavors, input.flavor_id) : undefined;
  const zone = input.availability_zone ? chosenFlavorOrZone(zones, input.availability_zone) : undefined;
  if (flavor && input.provider && input.provider !== flavor.provider) {
    throw fault(400, `Flavor '${flavor.offer.id}' is not compatible with provider '${input.provider}'`);
  }
  const provider = checkProvider(input.provider ?? flavor?.provider ?? "amphora");
  if (zone && driverOf(provider) === "ovn") {
    throw noAction("ovn", "This provider does not support validating availability zones.");
  }
  return { provider, flavor_id: flavor?.offer.id ?? null, availability_zone: zone?.offer.id ?? null };
}

function update(state: BalancerState, row: LoadBalancer, input: Input): LoadBalancer {
  const { project_id: _p, listeners: _l, pools: _s, provider: _v, additional_vips: _w, ...rest } = given(input);
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
