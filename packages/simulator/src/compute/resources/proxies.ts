import { at, bodyOf } from "../../kernel/json.ts";
import { invalid } from "../rules/create-request.ts";
import { mountImageProxies } from "./image-proxies.ts";
import { computeError, notInThisVersion, type ComputeApp, type ComputeParts } from "../model.ts";
import { mountNetworkProxies } from "./network-proxies.ts";
import { pythonRepr } from "../../kernel/python.ts";
import { mountSecurityGroupProxies } from "./security-group-proxies.ts";
import { requireState } from "./server-devices.ts";
import { serverOf } from "./servers.ts";
import { mountVolumeProxies } from "./volume-proxies.ts";

/** Nova's proxies, before 2.36, of other services' resources; and diagnostics of a server. */
export function mountProxies(app: ComputeApp, parts: ComputeParts): void {
  mountSecurityGroupProxies(app, parts);
  mountNetworkProxies(app, parts);
  mountVolumeProxies(app, parts);
  mountImageProxies(app, parts);
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
  mountServerDetails(app, parts);
}

function mountServerDetails(app: ComputeApp, parts: ComputeParts): void {
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
