import type { ServiceClient } from "../session/client.ts";
import type { CallOptions, Query } from "../types/collection.ts";
import type * as P from "../types/placement.ts";
import { createCollection } from "./collection.ts";
import { objectIn } from "./wire.ts";

/** Placement. */
export function createPlacementService(client: ServiceClient): P.PlacementService {
  const read = (route: string, ids: readonly string[], options?: CallOptions) =>
    client.send({ method: "GET", route, ids }, options);
  const part = async <T>(name: string, id: string, options?: CallOptions): Promise<T> =>
    objectIn<Record<string, T>>(await read(`/resource_providers/{id}/${name}`, [id], options), "")[name] as T;
  return {
    resourceProviders: createCollection(client, { route: "/resource_providers", one: "", many: "resource_providers" }),
    inventories: (id, options) => part("inventories", id, options),
    usages: (id, options) => part("usages", id, options),
    traits: (id, options) => part("traits", id, options),
    allocations: async (id, options) => objectIn(await read("/allocations/{id}", [id], options), "allocations"),
    async candidates(query: Query, options) {
      return objectIn(await client.send({ method: "GET", route: "/allocation_candidates", query }, options), "");
    },
  };
}
