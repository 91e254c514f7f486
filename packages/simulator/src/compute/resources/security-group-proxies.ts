import { at, bodyOf, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import type { LinkedGroup, LinkedRule } from "../../kernel/links.ts";
import { isUuid } from "../rules/create-request.ts";
import { asked, callerUntil, type Refusals } from "../kit/old-proxy.ts";
import { computeError, type ComputeApp, type ComputeParts } from "../model.ts";
import { serverOf } from "./servers.ts";
import type { ComputeContext } from "../views.ts";

/**
 * Nova's proxies of Neutron's security groups, reads and writes, before 2.36; a server's own groups are still returned.
 */
export function mountSecurityGroupProxies(app: ComputeApp, parts: ComputeParts): void {
  const groupOf = (c: ComputeContext, id: string): LinkedGroup => {
    const { projectId } = callerUntil(c);
    if (!isUuid(id)) throw computeError(400, "Security group id should be uuid");
    const group = parts.network.securityGroups(projectId).find((one) => one.id === id);
    if (!group) throw computeError(404, `Security group ${id} not found.`);
    return group;
  };
  app.get("/v2.1/os-security-groups", async (c) => {
    const { isAdmin, projectId } = callerUntil(c);
    const everywhere = isAdmin && c.req.query("all_tenants") !== undefined;
    const groups = everywhere ? parts.network.securityGroups() : parts.network.securityGroups(projectId);
    const key = (group: LinkedGroup) => `${group.project_id} ${group.name}`;
    const sorted = groups.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
    return c.json({ security_groups: sorted.map(groupView) });
  });
  app.get("/v2.1/os-security-groups/:id", (c) => c.json({ security_group: groupView(groupOf(c, c.req.param("id"))) }));
  app.post("/v2.1/os-security-groups", async (c) => {
    callerUntil(c);
    const id = await write(c, parts, { method: "POST", path: "", given: await given(c, "security_group") });
    return c.json({ security_group: groupView(groupOf(c, id)) });
  });
  app.put("/v2.1/os-security-groups/:id", async (c) => {
    const { id } = groupOf(c, c.req.param("id"));
    await write(c, parts, { method: "PUT", path: `/${id}`, given: await given(c, "security_group") });
    return c.json({ security_group: groupView(groupOf(c, id)) });
  });
  app.delete("/v2.1/os-security-groups/:id", async (c) => {
    const { id } = groupOf(c, c.req.param("id"));
    const question = { service: "network", caller: c.get("caller"), method: "DELETE" } as const;
    await asked(parts, { ...question, path: `/v2.0/security-groups/${id}`, refusals: { 409: [400] } });
    return c.body(null, 202);
  });
  app.get("/v2.1/servers/:id/os-security-groups", (c) => {
    const server = serverOf(c, parts);
    const names = new Set(
      parts.network.portsOf(server.id).flatMap((port) => parts.network.securityGroupNames(port.id)),
    );
    const groups = parts.network.securityGroups(server.project_id).filter((group) => names.has(group.name));
    return c.json({ security_groups: groups.map(groupView) });
  });
  mountRules(app, parts, groupOf);
}

async function given(c: ComputeContext, field: string): Promise<JsonObject> {
  const found = at(await bodyOf(c.req), field);
  if (!isObject(found)) throw computeError(400, `Missing parameter ${field}`);
  return found;
}

interface GroupWrite {
  readonly method: "POST" | "PUT";
  readonly path: string;
  readonly given: JsonObject;
}

/** Has a group made or changed; gives its id. */
async function write(
  c: ComputeContext,
  parts: ComputeParts,
  { method, path, given: group }: GroupWrite,
): Promise<string> {
  for (const field of ["name", "description"]) checkText(group[field], field);
  const body = { security_group: { name: group["name"], description: group["description"] } };
  const refusals: Refusals = { 409: method === "POST" ? [403] : [400] };
  const question = { service: "network", caller: c.get("caller"), method, body, refusals } as const;
  const made = await asked(parts, { ...question, path: `/v2.0/security-groups${path}` });
  return textAt(made, "security_group", "id") ?? "";
}

function checkText(value: unknown, field: string): void {
  if (typeof value !== "string") throw computeError(400, `${field} is not a string or unicode`);
  if (value.length > 255) throw computeError(400, `${field} has ${value.length} characters, more than 255.`);
}

function mountRules(
  app: ComputeApp,
  parts: ComputeParts,
  groupOf: (c: ComputeContext, id: string) => LinkedGroup,
): void {
  app.post("/v2.1/os-security-group-rules", async (c) => {
    const caller = callerUntil(c);
    const wanted = await given(c, "security_group_rule");
    const parent = groupOf(c, idOf(wanted["parent_group_id"]));
    const source = wanted["group_id"] === undefined || wanted["group_id"] === null ? undefined : wanted["group_id"];
    const rule = ruleOf(wanted, source === undefined ? undefined : groupOf(c, idOf(source)).id);
    const body = { security_group_rule: { ...rule, security_group_id: parent.id, direction: "ingress" } };
    const question = { service: "network", caller, method: "POST", path: "/v2.0/security-group-rules" } as const;
    const made = await asked(parts, { ...question, body, refusals: { 409: [400] } });
    const id = textAt(made, "security_group_rule", "id");
    const group = groupOf(c, parent.id);
    const found = group.rules.find((one) => one.id === id);
    return c.json({ security_group_rule: found && ruleView(group, found) });
  });
  app.delete("/v2.1/os-security-group-rules/:id", async (c) => {
    const caller = callerUntil(c);
    const id = idOf(c.req.param("id"));
    const refusals = { 404: [404, `Rule (${id}) not found`] } as const;
    const path = `/v2.0/security-group-rules/${id}`;
    await asked(parts, { service: "network", caller, method: "DELETE", path, refusals });
    return c.body(null, 202);
  });
}

function idOf(value: unknown): string {
  if (isUuid(value)) return value;
  throw computeError(400, "Security group id should be uuid");
}

/** A rule in Neutron's terms. Ports may be left out only where traffic comes from a group. */
function ruleOf(wanted: JsonObject, source: string | undefined): JsonObject {
  const protocol = textAt(wanted, "ip_protocol")?.toLowerCase();
  const [from, to] = portsOf(wanted, { protocol, source });
  if (protocol === undefined || from === null || to === null) {
    if (source === undefined) throw computeError(400, "Not enough parameters to build a valid rule.");
    return { remote_group_id: source };
  }
  const [low, high] = [Number(from), Number(to)];
  if (!["tcp", "udp", "icmp"].includes(protocol)) throw computeError(400, `Invalid IP protocol ${protocol}.`);
  checkPorts(protocol, low, high);
  const cidr = textAt(wanted, "cidr") ?? "0.0.0.0/0";
  const portOf = (port: number) => (protocol === "icmp" && port === -1 ? null : port);
  return {
    protocol,
    port_range_min: portOf(low),
    port_range_max: portOf(high),
    ethertype: source === undefined && cidr.includes(":") ? "IPv6" : "IPv4",
    ...(source === undefined ? { remote_ip_prefix: cidr } : { remote_group_id: source }),
  };
}

/** The requested ports; all, if a group is given without ports. */
function portsOf(
  wanted: JsonObject,
  { protocol, source }: { readonly protocol: string | undefined; readonly source: string | undefined },
): readonly [unknown, unknown] {
  const [from, to] = [wanted["from_port"] ?? null, wanted["to_port"] ?? null];
  if (source === undefined || from !== null || to !== null) return [from, to];
  return protocol === "icmp" ? [-1, -1] : [1, 65535];
}

function checkPorts(protocol: string, low: number, high: number): void {
  const bad = (why: string) => computeError(400, `Invalid port range ${low}:${high}. ${why}`);
  if (!Number.isInteger(low) || !Number.isInteger(high)) throw bad("Ports must be integers.");
  if (protocol === "icmp") {
    if (low < -1 || low > 255 || high < -1 || high > 255) throw bad("For ICMP, the type:code must be valid");
    return;
  }
  if (low > high) throw bad("Former value cannot be greater than the later");
  if (low < 1 || high > 65535) throw bad("Valid TCP ports should be between 1-65535");
}

const groupView = (group: LinkedGroup) => ({
  id: group.id,
  description: group.description,
  name: group.name,
  tenant_id: group.project_id,
  rules: group.rules.map((rule) => ruleView(group, rule)),
});

function ruleView(group: LinkedGroup, rule: LinkedRule) {
  return {
    id: rule.id,
    parent_group_id: group.id,
    ip_protocol: rule.protocol,
    from_port: rule.from,
    to_port: rule.to,
    group: rule.group === undefined ? {} : { name: rule.group, tenant_id: group.project_id },
    ip_range: rule.cidr === undefined ? {} : { cidr: rule.cidr },
  };
}
