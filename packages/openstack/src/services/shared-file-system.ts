import type { ServiceClient } from "../session/client.ts";
import type * as S from "../types/shared-file-system.ts";
import { actionsOf } from "./action.ts";
import { createCollection, ignoringNotFound } from "./collection.ts";
import { absoluteLimits } from "./limits.ts";
import { listIn, objectIn } from "./wire.ts";

/** Manila, from API 2.51 on (share networks with subnets); rules are read at /share-access-rules (2.45). */
export function createSharedFileSystemService(client: ServiceClient): S.SharedFileSystemService {
  const act = actionsOf(client, "/shares");
  return {
    userMessages: createCollection<S.UserMessage, never>(client, {
      route: "/messages",
      one: "message",
      many: "messages",
    }),
    shares: createCollection<S.Share, S.ShareCreate, S.ShareUpdate>(client, {
      route: "/shares",
      listRoute: "/shares/detail",
      one: "share",
      many: "shares",
    }),
    snapshots: createCollection<S.ShareSnapshot, S.ShareSnapshotCreate, S.ShareUpdate>(client, {
      route: "/snapshots",
      listRoute: "/snapshots/detail",
      one: "snapshot",
      many: "snapshots",
    }),
    shareNetworks: createCollection(client, {
      route: "/share-networks",
      listRoute: "/share-networks/detail",
      one: "share_network",
      many: "share_networks",
    }),
    shareTypes: createCollection(client, { route: "/types", one: "share_type", many: "share_types" }),
    availabilityZones: createCollection<{ id: string; name: string }, never>(client, {
      route: "/availability-zones",
      one: "availability_zone",
      many: "availability_zones",
    }),
    async exportLocations(id, options) {
      const call = { method: "GET" as const, route: "/shares/{id}/export_locations", ids: [id] };
      return listIn(await client.send(call, options), "export_locations");
    },
    async accessRules(id, query = {}, options) {
      const call = { method: "GET" as const, route: "/share-access-rules", query: { ...query, share_id: id } };
      return listIn(await client.send(call, options), "access_list");
    },
    allow: async (id, rule, options) => objectIn(await act(id, { allow_access: rule }, options), "access"),
    deny: (id, rule, options) => ignoringNotFound(act(id, { deny_access: { access_id: rule } }, options)),
    async extend(id, size, options) {
      await act(id, { extend: { new_size: size } }, options);
    },
    async shrink(id, size, options) {
      await act(id, { shrink: { new_size: size } }, options);
    },
    async setMetadata(id, metadata, options) {
      await client.send({ method: "POST", route: "/shares/{id}/metadata", ids: [id], body: { metadata } }, options);
    },
    limits: (options) => absoluteLimits(client, options),
  };
}
