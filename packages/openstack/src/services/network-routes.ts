import { CausewayError } from "@causeway/foundation";
import type { ServiceClient } from "../session/client.ts";
import type { CallOptions } from "../types/collection.ts";
import type { NetworkExtensions, Route } from "../types/network-extensions.ts";
import type { Router } from "../types/network.ts";
import { objectIn } from "./wire.ts";

const ATTEMPTS = 8;

/** Extra routes of routers, changed without losing those that others write at the same time. */
export function createRoutes(
  client: ServiceClient,
  extensions: (options?: CallOptions) => Promise<ReadonlySet<string>>,
): Pick<NetworkExtensions, "addRoutes" | "removeRoutes"> {
  const change = async (
    verb: "add" | "remove",
    id: string,
    routes: readonly Route[],
    options?: CallOptions,
  ): Promise<Router> => {
    if ((await extensions(options)).has("extraroute-atomic")) {
      const route = `/routers/{id}/${verb}_extraroutes`;
      return objectIn(
        await client.send({ method: "PUT", route, ids: [id], body: { router: { routes } } }, options),
        "router",
      );
    }
    return rewrite(client, id, (old) => (verb === "add" ? withRoutes(old, routes) : without(old, routes)), options);
  };
  return {
    addRoutes: (id, routes, options) => change("add", id, routes, options),
    removeRoutes: (id, routes, options) => change("remove", id, routes, options),
  };
}

/** Reads, changes and writes while the revision that was read is still current (If-Match), again when it is not. */
async function rewrite(
  client: ServiceClient,
  id: string,
  make: (old: readonly Route[]) => readonly Route[],
  options?: CallOptions,
): Promise<Router> {
  for (let attempt = 1; ; attempt++) {
    const read = await client.send({ method: "GET", route: "/routers/{id}", ids: [id] }, options);
    const router = objectIn<Router & { revision_number?: number }>(read, "router");
    const routes = make(router.routes);
    if (routes.length === router.routes.length && routes.every((r) => has(router.routes, r))) return router;
    const headers =
      router.revision_number === undefined ? {} : { "If-Match": `revision_number=${router.revision_number}` };
    try {
      const call = { method: "PUT" as const, route: "/routers/{id}", ids: [id], body: { router: { routes } }, headers };
      return objectIn(await client.send(call, options), "router");
    } catch (error) {
      const stale = error instanceof CausewayError && error.details["status"] === 412;
      if (!stale || attempt === ATTEMPTS) throw error;
    }
  }
}

function has(routes: readonly Route[], { destination, nexthop }: Route): boolean {
  return routes.some((r) => r.destination === destination && r.nexthop === nexthop);
}
function withRoutes(old: readonly Route[], added: readonly Route[]): Route[] {
  return [...old, ...added.filter((r) => !has(old, r))];
}
function without(old: readonly Route[], removed: readonly Route[]): Route[] {
  return old.filter((r) => !has(removed, r));
}
