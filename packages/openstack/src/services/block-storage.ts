import type { ServiceClient } from "../session/client.ts";
import type { CreateOptions } from "../types/collection.ts";
import type * as S from "../types/block-storage.ts";
import { actionsOf } from "./action.ts";
import { createCollection } from "./collection.ts";
import { absoluteLimits } from "./limits.ts";
import { listIn, objectIn } from "./wire.ts";

/** Cinder. */
export function createBlockStorageService(client: ServiceClient): S.BlockStorageService {
  const backups = createCollection<S.VolumeBackup, S.VolumeBackupCreate>(client, {
    route: "/backups",
    listRoute: "/backups/detail",
    one: "backup",
    many: "backups",
  });
  const quota = (answer: unknown): S.BlockStorageQuota => {
    const entries = Object.entries(objectIn<Record<string, unknown>>(answer, "quota_set"));
    return Object.fromEntries(entries.filter((e): e is [string, number] => typeof e[1] === "number"));
  };
  return {
    volumes: createCollection<S.Volume, S.VolumeCreate, S.VolumeUpdate>(client, {
      route: "/volumes",
      listRoute: "/volumes/detail",
      one: "volume",
      many: "volumes",
      envelope: ({ schedulerHints, ...volume }) => ({
        volume,
        ...(schedulerHints && { "OS-SCH-HNT:scheduler_hints": schedulerHints }),
      }),
    }),
    volumeActions: volumeActionsOf(client),
    volumeTypes: createCollection(client, { route: "/types", one: "volume_type", many: "volume_types" }),
    snapshots: createCollection(client, {
      route: "/snapshots",
      listRoute: "/snapshots/detail",
      one: "snapshot",
      many: "snapshots",
    }),
    backups,
    async restoreBackup(id, to = {}, options) {
      const call = { method: "POST" as const, route: "/backups/{id}/restore", ids: [id], body: { restore: to } };
      return objectIn(await client.send(call, options), "restore");
    },
    attachments: createCollection<S.Attachment, S.AttachmentCreate, { connector: Record<string, unknown> }>(client, {
      route: "/attachments",
      listRoute: "/attachments/detail",
      one: "attachment",
      many: "attachments",
    }),
    async completeAttachment(id, options) {
      await actionsOf(client, "/attachments")(id, { "os-complete": null }, options);
    },
    ...groupsOf(client),
    async pools(options) {
      const query = { detail: true };
      return listIn(await client.send({ method: "GET", route: "/scheduler-stats/get_pools", query }, options), "pools");
    },
    async services(options) {
      return listIn(await client.send({ method: "GET", route: "/os-services" }, options), "services");
    },
    async setSnapshotMetadata(id, metadata, options) {
      await client.send({ method: "POST", route: "/snapshots/{id}/metadata", ids: [id], body: { metadata } }, options);
    },
    async setMetadata(id, metadata, options) {
      await client.send({ method: "POST", route: "/volumes/{id}/metadata", ids: [id], body: { metadata } }, options);
    },
    async availabilityZones(options) {
      const answer = await client.send({ method: "GET", route: "/os-availability-zone" }, options);
      return listIn(answer, "availabilityZoneInfo");
    },
    limits: (options) => absoluteLimits(client, options),
    quota: async (id, options) =>
      quota(await client.send({ method: "GET", route: "/os-quota-sets/{id}", ids: [id] }, options)),
    async setQuota(id, limits, options) {
      const call = { method: "PUT" as const, route: "/os-quota-sets/{id}", ids: [id], body: { quota_set: limits } };
      return quota(await client.send(call, options));
    },
  };
}

type Groups = "groups" | "createGroup" | "changeGroup" | "groupTypes" | "groupSnapshots" | "createGroupSnapshot";

function groupsOf(client: ServiceClient): Pick<S.BlockStorageService, Groups> {
  const snapshots = createCollection<S.GroupSnapshot, { group_id: string; name: string }>(client, {
    route: "/group_snapshots",
    listRoute: "/group_snapshots/detail",
    one: "group_snapshot",
    many: "group_snapshots",
  });
  return {
    groups: createCollection<S.VolumeGroup, never>(client, {
      route: "/groups",
      listRoute: "/groups/detail",
      one: "group",
      many: "groups",
    }),
    async createGroup(group, options) {
      return objectIn(await client.send({ method: "POST", route: "/groups", body: { group } }, options), "group");
    },
    async changeGroup(id, group, options) {
      await client.send({ method: "PUT", route: "/groups/{id}", ids: [id], body: { group } }, options);
    },
    groupTypes: createCollection<S.VolumeGroupType, never>(client, {
      route: "/group_types",
      one: "group_type",
      many: "group_types",
    }),
    groupSnapshots: snapshots,
    // The response to a create has the ID and little more.
    createGroupSnapshot: (snapshot, options) => snapshots.create(snapshot, options as CreateOptions<S.GroupSnapshot>),
  };
}

function volumeActionsOf(client: ServiceClient): S.VolumeActions {
  const act = actionsOf(client, "/volumes");
  return {
    async extend(id, size, options) {
      await act(id, { "os-extend": { new_size: size } }, options);
    },
    async retype(id, type, policy = "never", options) {
      await act(id, { "os-retype": { new_type: type, migration_policy: policy } }, options);
    },
    async setBootable(id, bootable, options) {
      await act(id, { "os-set_bootable": { bootable } }, options);
    },
    async setReadonly(id, readonly, options) {
      await act(id, { "os-update_readonly_flag": { readonly } }, options);
    },
    async resetStatus(id, status, options) {
      await act(id, { "os-reset_status": { status } }, options);
    },
    async forceDelete(id, options) {
      await act(id, { "os-force_delete": {} }, options);
    },
  };
}
