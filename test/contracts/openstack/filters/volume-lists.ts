import type { RawCase } from "../case.ts";
import type { FilteredList } from "./list.ts";
import { as, made } from "./made.ts";

const cinder = (
  path: string,
  many: string,
  make: readonly RawCase[],
  more: FilteredList["more"] = {},
): FilteredList => ({
  service: "volumev3",
  path,
  many,
  make,
  more,
  headers: { "openstack-api-version": "volume 3.70" },
  as: "member",
});

const volume: RawCase = {
  ...made({
    path: "/volumes",
    one: "volume",
    body: { name: "{run}-v", description: "{run}", size: 1, metadata: { "{run}": "x" } },
    keep: "vol",
    more: { as: "member" },
  }),
};
const available: RawCase = {
  says: "the volume is available",
  call: "GET /volumes/{vol}",
  until: { field: "volume.status", is: ["available", "error"] },
};

const newest = { "openstack-api-version": "volume 3.70" };
const snapshot: readonly RawCase[] = [
  volume,
  available,
  made({
    path: "/snapshots",
    one: "snapshot",
    body: { name: "{run}-p", description: "{run}", volume_id: "{vol}", metadata: { "{run}": "x" } },
    more: { as: "member" },
  }),
  {
    says: "the snapshot is available",
    call: "GET /snapshots/{id}",
    until: { field: "snapshot.status", is: ["available", "error"] },
  },
];
const transfer = (path: string): readonly RawCase[] => [
  volume,
  available,
  made({
    path,
    one: "transfer",
    body: { name: "{run}-x", volume_id: "{vol}" },
    more: { as: "member", headers: newest },
  }),
];
const attachment: readonly RawCase[] = [
  volume,
  available,
  made({
    path: "/attachments",
    one: "attachment",
    body: { volume_uuid: "{vol}" },
    more: { as: "member", headers: newest },
  }),
];
const groupType = made({
  path: "/group_types",
  one: "group_type",
  body: { name: "{run}-y", description: "{run}", is_public: true },
  keep: "groupType",
  more: { headers: newest },
});
const groups: readonly RawCase[] = [
  groupType,
  { says: "a type", call: "GET /types/default", as: "admin", keep: { type: "volume_type.id" } },
  {
    says: "a group",
    call: "POST /groups",
    headers: newest,
    body: { group: { name: "{run}-g", description: "{run}", group_type: "{groupType}", volume_types: ["{type}"] } },
    keep: { id: "group.id" },
    undo: "POST /groups/{id}/action",
    undoBody: { delete: { "delete-volumes": true } },
  },
  {
    says: "the group is available",
    call: "GET /groups/{id}",
    headers: newest,
    until: { field: "group.status", is: ["available", "error"] },
  },
];
const groupSnapshot: readonly RawCase[] = [
  ...groups,
  {
    says: "a volume in the group",
    call: "POST /volumes",
    headers: newest,
    body: { volume: { name: "{run}-v", size: 1, volume_type: "{type}", group_id: "{id}" } },
    keep: { vol: "volume.id" },
  },
  {
    says: "the volume is available",
    call: "GET /volumes/{vol}",
    until: { field: "volume.status", is: ["available", "error"] },
  },
  {
    says: "a snapshot of the group",
    call: "POST /group_snapshots",
    headers: newest,
    body: { group_snapshot: { name: "{run}-gs", description: "{run}", group_id: "{id}" } },
    keep: { id: "group_snapshot.id", snap: "group_snapshot.id" },
    undo: "DELETE /group_snapshots/{snap}",
  },
  {
    says: "the snapshot is available",
    call: "GET /group_snapshots/{snap}",
    headers: newest,
    until: { field: "group_snapshot.status", is: ["available", "error"] },
  },
];
const found = (path: string, id: string, more: Partial<RawCase> = {}): RawCase => ({
  says: `one of ${path}`,
  call: `GET ${path}`,
  as: "admin",
  headers: newest,
  keep: { id },
  ...more,
});
const byAdmin = (list: FilteredList): FilteredList => ({ ...list, as: "admin" });
const volumeFilters: FilteredList["more"] = {
  metadata: ["{'{run}': 'x'}", "{'{run}': 'y'}"],
  availability_zone: ["nova", "az2"],
  created_at: ["gt:2020-01-01T00:00:00", "lt:2020-01-01T00:00:00"],
  "name~": ["{run}", "{run}-x"],
};
const snapshotFilters: FilteredList["more"] = {
  metadata: ["{'{run}': 'x'}", "{'{run}': 'y'}"],
  "name~": ["{run}", "{run}-x"],
};

export const volumeLists: readonly FilteredList[] = [
  cinder("/volumes/detail", "volumes", [as(volume), available], volumeFilters),
  { ...cinder("/volumes", "volumes", [as(volume), available], volumeFilters), detail: "/volumes/detail" },
  cinder("/snapshots/detail", "snapshots", snapshot, snapshotFilters),
  { ...cinder("/snapshots", "snapshots", snapshot, snapshotFilters), detail: "/snapshots/detail" },
  byAdmin(
    cinder(
      "/types",
      "volume_types",
      [
        made({
          path: "/types",
          one: "volume_type",
          body: { name: "{run}-t", description: "{run}", extra_specs: { "{run}": "x" } },
        }),
      ],
      { extra_specs: ["{'{run}': 'x'}", "{'{run}': 'y'}"], is_public: ["true", "false"] },
    ),
  ),
  cinder("/attachments/detail", "attachments", attachment),
  { ...cinder("/attachments", "attachments", attachment), detail: "/attachments/detail" },
  cinder("/os-volume-transfer/detail", "transfers", transfer("/os-volume-transfer")),
  {
    ...cinder("/os-volume-transfer", "transfers", transfer("/os-volume-transfer")),
    detail: "/os-volume-transfer/detail",
  },
  cinder("/volume-transfers/detail", "transfers", transfer("/volume-transfers")),
  { ...cinder("/volume-transfers", "transfers", transfer("/volume-transfers")), detail: "/volume-transfers/detail" },
  byAdmin(cinder("/group_types", "group_types", [as(groupType)])),
  cinder("/groups/detail", "groups", groups),
  { ...cinder("/groups", "groups", groups), detail: "/groups/detail" },
  byAdmin(
    cinder("/qos-specs", "qos_specs", [
      {
        says: "specs",
        call: "POST /qos-specs",
        as: "admin",
        body: { qos_specs: { name: "{run}-q", consumer: "back-end" } },
        keep: { id: "qos_specs.id" },
        undo: "DELETE /qos-specs/{id}",
      },
    ]),
  ),
  {
    ...byAdmin(
      cinder("/types/{type}/os-volume-type-access", "volume_type_access", [
        made({
          path: "/types",
          one: "volume_type",
          body: { name: "{run}-t", "os-volume-type-access:is_public": false },
          keep: "type",
        }),
        {
          says: "access",
          call: "POST /types/{type}/action",
          as: "admin",
          body: { addProjectAccess: { project: "{altProject}" } },
        },
        found("/types/{type}/os-volume-type-access", "volume_type_access.0.project_id"),
      ]),
    ),
    idField: "project_id",
  },
  { ...byAdmin(cinder("/os-services", "services", [found("/os-services", "services.0.host")])), idField: "host" },
  { ...byAdmin(cinder("/os-hosts", "hosts", [found("/os-hosts", "hosts.0.host_name")])), idField: "host_name" },
  {
    ...byAdmin(cinder("/scheduler-stats/get_pools", "pools", [found("/scheduler-stats/get_pools", "pools.0.name")])),
    idField: "name",
  },
  {
    ...cinder("/os-availability-zone", "availabilityZoneInfo", [
      found("/os-availability-zone", "availabilityZoneInfo.0.zoneName", { as: "member" }),
    ]),
    idField: "zoneName",
  },
  cinder("/messages", "messages", [
    made({
      path: "/types",
      one: "volume_type",
      body: { name: "{run}-t", extra_specs: { volume_backend_name: "{run}" } },
      keep: "type",
    }),
    {
      says: "a volume that no pool has room for",
      call: "POST /volumes",
      headers: newest,
      body: { volume: { name: "{run}-v", size: 1, volume_type: "{type}" } },
      keep: { vol: "volume.id" },
      undo: "DELETE /volumes/{vol}",
    },
    {
      says: "the volume is in error",
      call: "GET /volumes/{vol}",
      until: { field: "volume.status", is: ["available", "error"] },
    },
    found("/messages?resource_uuid={vol}", "messages.0.id", { as: "member" }),
  ]),
  byAdmin(
    cinder("/qos-specs/{specs}/associations", "qos_associations", [
      {
        says: "specs",
        call: "POST /qos-specs",
        as: "admin",
        body: { qos_specs: { name: "{run}-q", consumer: "back-end" } },
        keep: { specs: "qos_specs.id" },
        undo: "DELETE /qos-specs/{specs}?force=true",
      },
      made({ path: "/types", one: "volume_type", body: { name: "{run}-t" } }),
      { says: "are the type's", call: "GET /qos-specs/{specs}/associate?vol_type_id={id}", as: "admin" },
    ]),
  ),
  cinder("/group_snapshots/detail", "group_snapshots", groupSnapshot),
  { ...cinder("/group_snapshots", "group_snapshots", groupSnapshot), detail: "/group_snapshots/detail" },
];
