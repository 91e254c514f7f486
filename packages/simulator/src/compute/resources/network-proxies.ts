import { bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { isUuid } from "../rules/create-request.ts";
import { asked, callerUntil, rowsOf } from "../kit/old-proxy.ts";
import { computeError, type ComputeApp, type ComputeParts } from "../model.ts";
import type { ComputeContext } from "../views.ts";

/** Nova's proxies of Neutron's networks and floating IPs before 2.36. */
export function mountNetworkProxies(app: ComputeApp, parts: ComputeParts): void {
  mountNetworks(app, parts);
  mountFloatingIps(app, parts);
}

const plainFields = ["cidr", "netmask", "gateway", "broadcast", "dns1", "dns2", "cidr_v6", "gateway_v6", "netmask_v6"];
const adminFields = [
  ..."created_at updated_at deleted_at deleted injected bridge vlan vpn_public_address vpn_public_port".split(" "),
  ..."vpn_private_address dhcp_start project_id host bridge_interface multi_host priority rxtx_base mtu".split(" "),
  ..."dhcp_server enable_dhcp share_address".split(" "),
];

function mountNetworks(app: ComputeApp, parts: ComputeParts): void {
  const views: Readonly<Record<string, (c: ComputeContext, network: JsonObject) => object>> = {
    // Of the fields of nova-network only two are known any more.
    "os-networks": (c, { id, name }) => ({
      ...Object.fromEntries(
        [...plainFields, ...(c.get("caller").isAdmin ? adminFields : [])].map((field) => [field, null]),
      ),
      id,
      label: name,
    }),
    "os-tenant-networks": (_c, { id, name }) => ({ id, cidr: "None", label: name }),
  };
  for (const [path, view] of Object.entries(views)) {
    app.get(`/v2.1/${path}`, async (c) => {
      const caller = callerUntil(c);
      const found = await asked(parts, { service: "network", caller, method: "GET", path: "/v2.0/networks" });
      return c.json({ networks: rowsOf(found, "networks").map((network) => view(c, network)) });
    });
    app.get(`/v2.1/${path}/:id`, async (c) => {
      const caller = callerUntil(c);
      const refusals = { 404: [404, "Network not found"] } as const;
      const at = `/v2.0/networks/${encodeURIComponent(c.req.param("id"))}`;
      const found = await asked(parts, { service: "network", caller, method: "GET", path: at, refusals });
      return c.json({ network: view(c, found["network"] as JsonObject) });
    });
  }
}

/** Floating IPs that match, each with its network's name. */
async function floatingIps(c: ComputeContext, parts: ComputeParts, query: string): Promise<readonly JsonObject[]> {
  const ask = { service: "network", caller: c.get("caller"), method: "GET" } as const;
  return rowsOf(await asked(parts, { ...ask, path: `/v2.0/floatingips?${query}` }), "floatingips");
}

/** The pools: external networks that the caller sees. */
async function pools(c: ComputeContext, parts: ComputeParts): Promise<readonly JsonObject[]> {
  const ask = { service: "network", caller: c.get("caller"), method: "GET" } as const;
  return rowsOf(await asked(parts, { ...ask, path: "/v2.0/networks?router:external=true" }), "networks");
}

function mountFloatingIps(app: ComputeApp, parts: ComputeParts): void {
  const view = async (c: ComputeContext, ip: JsonObject) => {
    const pool = (await pools(c, parts)).find(({ id }) => id === ip["floating_network_id"]);
    return {
      id: ip["id"],
      ip: ip["floating_ip_address"],
      pool: pool?.["name"] ?? ip["floating_network_id"],
      fixed_ip: ip["fixed_ip_address"],
      instance_id: textAt(ip["port_details"], "device_id") ?? null,
    };
  };
  const one = async (c: ComputeContext) => {
    const id = c.req.param("id") ?? "";
    if (!isUuid(id)) throw computeError(400, `Invalid ID received ${c.req.param("id")}.`);
    const [ip] = await floatingIps(c, parts, `id=${id}`);
    if (!ip) throw computeError(404, `Floating IP not found for ID ${id}`);
    return ip;
  };
  app.get("/v2.1/os-floating-ip-pools", async (c) => {
    callerUntil(c);
    return c.json({ floating_ip_pools: (await pools(c, parts)).map(({ name }) => ({ name })) });
  });
  app.get("/v2.1/os-floating-ips", async (c) => {
    const { projectId } = callerUntil(c);
    const own = await floatingIps(c, parts, `project_id=${projectId}`);
    return c.json({ floating_ips: await Promise.all(own.map((ip) => view(c, ip))) });
  });
  app.get("/v2.1/os-floating-ips/:id", async (c) => {
    callerUntil(c);
    return c.json({ floating_ip: await view(c, await one(c)) });
  });
  app.post("/v2.1/os-floating-ips", async (c) => {
    const caller = callerUntil(c);
    const wanted = textAt(await bodyOf(c.req), "pool");
    const pool = (await pools(c, parts)).find(
      ({ id, name }) => wanted === undefined || id === wanted || name === wanted,
    );
    if (!pool) throw computeError(404, "Floating IP pool not found.");
    const body = { floatingip: { floating_network_id: pool["id"], tenant_id: caller.projectId } };
    const refusals = { 409: [403, `IP allocation over quota in pool ${wanted ?? "None"}.`] } as const;
    const question = { service: "network", caller, method: "POST", path: "/v2.0/floatingips", body, refusals } as const;
    const made = (await asked(parts, question))["floatingip"] as JsonObject;
    return c.json({ floating_ip: await view(c, made) });
  });
  app.delete("/v2.1/os-floating-ips/:id", async (c) => {
    const caller = callerUntil(c);
    const path = `/v2.0/floatingips/${String((await one(c))["id"])}`;
    await asked(parts, { service: "network", caller, method: "DELETE", path });
    return c.body(null, 202);
  });
  addAssociations(app, parts);
}

const actionsGoneAt = 44;

/** The two orders to a server, checked before the other orders. */
function addAssociations(app: ComputeApp, parts: ComputeParts): void {
  app.post("/v2.1/servers/:id/action", async (c, next) => {
    // The body can be read again by the route of the other orders.
    const body = await bodyOf({ text: () => c.req.text() });
    const [verb, argument] = Object.entries(isObject(body) ? body : {})[0] ?? [];
    if (verb !== "addFloatingIp" && verb !== "removeFloatingIp") return next();
    if (c.get("minor") >= actionsGoneAt) throw computeError(404, "The resource could not be found.");
    const server = parts.tables.servers.get(c.req.param("id"));
    const { projectId, isAdmin } = c.get("caller");
    if (!server || (server.project_id !== projectId && !isAdmin)) {
      throw computeError(404, `Instance ${c.req.param("id")} could not be found.`);
    }
    const given = textAt(argument, "address") ?? "";
    const ip = (await floatingIps(c, parts, `floating_ip_address=${encodeURIComponent(given)}`))[0];
    if (verb === "removeFloatingIp") {
      if (!ip) throw computeError(404, `Floating IP not found for address ${given}.`);
      if (textAt(ip["port_details"], "device_id") !== server.id) {
        throw computeError(409, `Floating IP ${given} is not associated with instance ${server.id}.`);
      }
      await associate(c, parts, ip, { port_id: null });
      return c.body(null, 202);
    }
    const fixed = parts.network.serverAddresses(server.id).filter(({ kind }) => kind === "fixed");
    if (fixed.length === 0) throw computeError(400, "No fixed IPs associated to instance");
    const wanted = textAt(argument, "fixed_address");
    const target = fixed.find(({ addr, version }) => (wanted === undefined ? version === 4 : addr === wanted));
    if (!target) throw computeError(400, "Specified fixed address not assigned to instance");
    if (!ip) throw computeError(404, "floating IP not found");
    await associate(c, parts, ip, { port_id: target.port_id, fixed_ip_address: target.addr });
    return c.body(null, 202);
  });
}

async function associate(c: ComputeContext, parts: ComputeParts, ip: JsonObject, change: object): Promise<void> {
  const question = {
    service: "network",
    caller: c.get("caller"),
    method: "PUT",
    path: `/v2.0/floatingips/${String(ip["id"])}`,
    body: { floatingip: change },
    refusals: { 409: [400] },
  } as const;
  await asked(parts, question);
}
