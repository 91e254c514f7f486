import { at, bodyOf } from "../kernel/json.ts";
import type { LinkedGroup, LinkedRule } from "../kernel/links.ts";
import { invalid, isUuid } from "./create-request.ts";
import { computeError, notInThisVersion, type ComputeApp, type ComputeParts } from "./model.ts";
import { pythonRepr } from "./python.ts";
import { requireState } from "./server-devices.ts";
import { serverOf } from "./servers.ts";
import type { ComputeContext } from "./views.ts";

const goneAt = 36;

/** What Nova still tells, before 2.36, of other services' resources; and of a server's insides. */
export function addProxyRoutes(app: ComputeApp, parts: ComputeParts): void {
  const old = (c: ComputeContext) => {
    if (c.get("minor") >= goneAt) throw notInThisVersion();
    return c.get("caller");
  };
  app.get("/v2.1/os-security-groups", (c) =>
    c.json({ security_groups: parts.network.securityGroups(old(c).projectId).map(groupView) }),
  );
  app.get("/v2.1/os-security-groups/:id", (c) => {
    const [{ projectId }, id] = [old(c), c.req.param("id")];
    if (!isUuid(id)) throw computeError(400, "Security group id should be uuid");
    const group = parts.network.securityGroups(projectId).find((one) => one.id === id);
    if (!group) throw computeError(404, `Security group ${id} does not exist`);
    return c.json({ security_group: groupView(group) });
  });
  app.get("/v2.1/servers/:id/os-security-groups", (c) => {
    const server = serverOf(c, parts);
    const names = new Set(
      parts.network.portsOf(server.id).flatMap((port) => parts.network.securityGroupNames(port.id)),
    );
    const groups = parts.network.securityGroups(server.project_id).filter((group) => names.has(group.name));
    return c.json({ security_groups: groups.map(groupView) });
  });
  for (const path of [
    "os-fping",
    "os-cells",
    "os-agents",
    "os-certificates/:id",
    "os-floating-ip-dns",
    "os-cloudpipe",
  ]) {
    app.all(`/v2.1/${path}`, () => {
      throw computeError(410, "This resource is no longer available. No forwarding address is given.");
    });
  }
  addInsideRoutes(app, parts);
}

function addInsideRoutes(app: ComputeApp, parts: ComputeParts): void {
  app.get("/v2.1/servers/:id/os-server-password", (c) => {
    serverOf(c, parts);
    return c.json({ password: "" });
  });
  app.delete("/v2.1/servers/:id/os-server-password", (c) => {
    serverOf(c, parts);
    return c.body(null, 204);
  });
  app.post("/v2.1/servers/:id/remote-consoles", async (c) => {
    if (c.get("minor") < 6) throw notInThisVersion();
    const asked = at(await bodyOf(c.req), "remote_console");
    const [protocol, type] = [at(asked, "protocol"), at(asked, "type")];
    const server = serverOf(c, parts);
    if (typeof protocol !== "string")
      throw invalid(
        "protocol",
        protocol,
        `${pythonRepr(protocol)} is not one of ['vnc', 'spice', 'rdp', 'serial', 'mks']`,
      );
    requireState(server, ["active", "paused", "suspended", "stopped", "rescued", "resized", "error"], "get_console");
    // No host of this cloud has a console proxy.
    throw computeError(400, `Unavailable console type ${String(type as string)}.`);
  });
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
