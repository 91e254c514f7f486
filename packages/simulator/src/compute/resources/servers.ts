import { randomBytes } from "node:crypto";
import { at, bodyOf, isObject, textAt } from "../../kernel/json.ts";
import { hostnameOf, invalid, reachOf, readCreateRequest } from "../rules/create-request.ts";
import { createServers } from "../rules/create.ts";
import type { Lifecycle } from "../rules/lifecycle.ts";
import { listServers } from "../listing.ts";
import { computeError, serverFor, serverNotFound, type ComputeApp, type ComputeParts, type Server } from "../model.ts";
import { pythonRepr } from "../../kernel/python.ts";
import { briefView, changedView, linksOf, nextLink, rootOf, serverView, type ComputeContext } from "../views.ts";

/** Servers: create, list, show, update, delete. */
export function mountServers(app: ComputeApp, parts: ComputeParts, lifecycle: Lifecycle): void {
  const { tables } = parts;
  app.post("/v2.1/servers", async (c) => {
    const body = await bodyOf(c.req);
    const request = readCreateRequest(body, c.get("minor"));
    const requestId = c.get("requestId") ?? "";
    const made = createServers({ parts, caller: c.get("caller"), request, requestId });
    const first = made[0];
    if (!first) throw computeError(400, "max_count must be at least 1");
    if (at(body, "server", "return_reservation_id") === true) {
      return c.json({ reservation_id: first.reservation_id }, 202);
    }
    const groups = request.security_groups.length > 0 ? request.security_groups : ["default"];
    const server = {
      id: first.id,
      links: linksOf(c, "servers", first.id),
      "OS-DCF:diskConfig": first.disk_config ?? "MANUAL",
      security_groups: groups.map((name) => ({ name })),
      adminPass: textAt(body, "server", "adminPass") ?? randomBytes(9).toString("base64url"),
    };
    return c.json({ server }, 202, { location: `${rootOf(c)}/v2.1/servers/${first.id}` });
  });

  app.get("/v2.1/servers", (c) => list(c, { parts, rule: "index" }, (server) => briefView(c, server)));
  app.get("/v2.1/servers/detail", (c) =>
    list(c, { parts, rule: "detail" }, (server) => serverView(c, parts, server, false)),
  );

  app.get("/v2.1/servers/:id", (c) => {
    const { id } = c.req.param();
    return c.json({ server: serverView(c, parts, serverFor(tables, c.get("caller"), id)) });
  });

  app.put("/v2.1/servers/:id", async (c) => {
    const given = at(await bodyOf(c.req), "server");
    const server = serverFor(tables, c.get("caller"), c.req.param("id"));
    lifecycle.touch(server.id, updateOf(given, c.get("minor")));
    return c.json({ server: changedView(c, parts, serverFor(tables, c.get("caller"), server.id)) });
  });

  app.delete("/v2.1/servers/:id", (c) => {
    const server = serverFor(tables, c.get("caller"), c.req.param("id"));
    requireUnlocked(c, server);
    lifecycle.note(server, { action: "delete", ...orderedBy(c) });
    lifecycle.delete(serverFor(tables, c.get("caller"), server.id));
    return c.body(null, 204);
  });
}

/** Who made the request, as the record of a server's actions names the caller. */
export const orderedBy = (c: ComputeContext) => ({
  request_id: c.get("requestId") ?? "",
  user_id: c.get("caller").userId,
});

/** Throws 409 if the server is locked and the caller is no admin. */
export function requireUnlocked(c: ComputeContext, server: Server): void {
  if (server.locked && !c.get("caller").isAdmin) throw computeError(409, `Instance ${server.id} is locked`);
}

interface ListRule {
  readonly parts: ComputeParts;
  readonly rule: "index" | "detail";
}

function list(c: ComputeContext, { parts, rule }: ListRule, view: (server: Server) => object): Response {
  const url = new URL(c.req.url);
  const { servers, more } = listServers(parts, c.get("caller"), {
    query: url.searchParams,
    minor: c.get("minor"),
    rule,
  });
  const last = servers.at(-1);
  return c.json({
    servers: servers.map(view),
    ...(more && last ? { servers_links: [{ rel: "next", href: nextLink(c, last.id) }] } : {}),
  });
}

function updateOf(given: unknown, minor: number): Partial<Server> {
  if (!isObject(given)) throw computeError(400, "'server' is a required property");
  const name = given["name"];
  if (name !== undefined && (typeof name !== "string" || name.trim() === "")) {
    throw invalid("name", name, `${pythonRepr(name)} is too short`);
  }
  if (typeof name === "string" && name.length > 255) throw invalid("name", name, `${pythonRepr(name)} is too long`);
  const description = given["description"];
  if (minor < 90 && given["hostname"] !== undefined) {
    throw invalid("server", given, "Additional properties are not allowed ('hostname' was unexpected)");
  }
  const hostname = hostnameOf(given["hostname"]);
  return {
    ...reachOf(given),
    ...(hostname === undefined ? {} : { hostname }),
    ...(typeof name === "string" ? { name: name.trim() } : {}),
    ...(typeof description === "string" || description === null ? { description } : {}),
  };
}

/** The server of a route below /servers/:id; throws 404. */
export function serverOf(c: ComputeContext, parts: ComputeParts): Server {
  const id = c.req.param("id");
  if (id === undefined) throw serverNotFound("");
  return serverFor(parts.tables, c.get("caller"), id);
}
