import type { RawCase } from "../case.ts";
import type { FilteredList } from "./list.ts";
import { as, made, network, subnet } from "./made.ts";

const newest = { "x-openstack-manila-api-version": "2.73" };
const manila = (
  path: string,
  many: string,
  make: readonly RawCase[],
  more: FilteredList["more"] = {},
): FilteredList => ({
  service: "sharev2",
  path,
  many,
  make,
  more,
  as: "member",
  headers: newest,
});
const byAdmin = (list: FilteredList): FilteredList => ({ ...list, as: "admin" });
const found = (path: string, id: string): RawCase => ({
  says: "one of them",
  call: `GET ${path}`,
  as: "admin",
  headers: newest,
  keep: { id },
});
const now: Partial<RawCase> = { as: "member", headers: newest };

const share: readonly RawCase[] = [
  made({
    path: "/shares",
    one: "share",
    body: { name: "{run}-s", description: "{run}", share_proto: "NFS", size: 1, metadata: { "{run}": "x" } },
    keep: "share",
    more: now,
  }),
  {
    says: "the share is available",
    call: "GET /shares/{share}",
    headers: newest,
    until: { field: "share.status", is: ["available", "error"] },
    keep: { id: "share.id" },
  },
];
const snapshot: readonly RawCase[] = [
  ...share,
  made({
    path: "/snapshots",
    one: "snapshot",
    body: { share_id: "{share}", name: "{run}-n", description: "{run}" },
    keep: "snap",
    more: now,
  }),
  {
    says: "the snapshot is available",
    call: "GET /snapshots/{snap}",
    headers: newest,
    until: { field: "snapshot.status", is: ["available", "error"] },
    keep: { id: "snapshot.id" },
  },
];
const type = made({
  path: "/types",
  one: "share_type",
  body: { name: "{run}-t", description: "{run}", extra_specs: { driver_handles_share_servers: "False", "{run}": "x" } },
  keep: "type",
  more: { headers: newest },
});
const groupType = made({
  path: "/share-group-types",
  one: "share_group_type",
  body: { name: "{run}-y", share_types: ["{type}"] },
  more: { headers: newest },
});
const shareFilters: FilteredList["more"] = {
  metadata: ["{'{run}': 'x'}", "{'{run}': 'y'}"],
  "name~": ["{run}", "{run}-x"],
  "description~": ["{run}", "{run}-x"],
};

const shareNetwork = made({
  path: "/share-networks",
  one: "share_network",
  body: { name: "{run}-n", description: "{run}" },
  keep: "shareNet",
  more: now,
});
const service = made({
  path: "/security-services",
  one: "security_service",
  body: { name: "{run}-s", description: "{run}", type: "ldap", dns_ip: "10.0.0.9", server: "{run}", user: "{run}" },
  more: now,
});
const elsewhere = (each: RawCase): RawCase => ({ ...each, service: "network", as: "member" });

export const shareLists: readonly FilteredList[] = [
  manila("/share-networks/detail", "share_networks", [as(shareNetwork)]),
  { ...manila("/share-networks", "share_networks", [as(shareNetwork)]), detail: "/share-networks/detail" },
  manila("/share-networks/{shareNet}/subnets", "share_network_subnets", [
    elsewhere(network),
    elsewhere(subnet),
    shareNetwork,
    {
      says: "its first subnet",
      call: "GET /share-networks/{shareNet}/subnets",
      headers: newest,
      keep: { id: "share_network_subnets.0.id" },
    },
  ]),
  manila("/security-services/detail", "security_services", [service]),
  { ...manila("/security-services", "security_services", [service]), detail: "/security-services/detail" },
  manila("/shares/detail", "shares", share, shareFilters),
  { ...manila("/shares", "shares", share, shareFilters), detail: "/shares/detail" },
  manila("/snapshots/detail", "snapshots", snapshot),
  { ...manila("/snapshots", "snapshots", snapshot), detail: "/snapshots/detail" },
  byAdmin(
    manila("/snapshot-instances/detail", "snapshot_instances", [
      ...snapshot,
      found("/snapshot-instances/detail?snapshot_id={snap}", "snapshot_instances.0.id"),
    ]),
  ),
  {
    ...byAdmin(
      manila("/snapshot-instances", "snapshot_instances", [
        ...snapshot,
        found("/snapshot-instances/detail?snapshot_id={snap}", "snapshot_instances.0.id"),
      ]),
    ),
    detail: "/snapshot-instances/detail",
  },
  byAdmin(
    manila(
      "/share_instances",
      "share_instances",
      [...share, found("/shares/{share}/instances", "share_instances.0.id")],
      {
        export_location_path: ["{nothing}", "x"],
      },
    ),
  ),
  byAdmin(
    manila("/shares/{share}/instances", "share_instances", [
      ...share,
      found("/shares/{share}/instances", "share_instances.0.id"),
    ]),
  ),
  byAdmin(
    manila("/shares/{share}/export_locations", "export_locations", [
      ...share,
      found("/shares/{share}/export_locations", "export_locations.0.id"),
    ]),
  ),
  manila(
    "/share-access-rules?share_id={share}",
    "access_list",
    [
      ...share,
      {
        says: "access",
        call: "POST /shares/{share}/action",
        headers: newest,
        body: {
          allow_access: { access_type: "ip", access_to: "10.0.0.1", access_level: "rw", metadata: { "{run}": "x" } },
        },
        keep: { id: "access.id" },
      },
    ],
    { metadata: ["{'{run}': 'x'}", "{'{run}': 'y'}"] },
  ),
  byAdmin(
    manila("/types", "share_types", [as(type)], {
      is_public: ["true", "false"],
      extra_specs: ["{'{run}': 'x'}", "{'{run}': 'y'}"],
    }),
  ),
  byAdmin(manila("/share-group-types", "share_group_types", [type, groupType], { is_public: ["true", "false"] })),
  byAdmin(manila("/services", "services", [found("/services", "services.0.id")])),
  {
    ...byAdmin(manila("/scheduler-stats/pools/detail", "pools", [found("/scheduler-stats/pools", "pools.0.name")])),
    idField: "name",
  },
  {
    ...byAdmin(manila("/scheduler-stats/pools", "pools", [found("/scheduler-stats/pools", "pools.0.name")])),
    idField: "name",
    detail: "/scheduler-stats/pools/detail",
  },
  manila("/availability-zones", "availability_zones", [found("/availability-zones", "availability_zones.0.id")]),
  {
    ...byAdmin(
      manila("/types/{type}/share_type_access", "share_type_access", [
        made({
          path: "/types",
          one: "share_type",
          body: {
            name: "{run}-t",
            "share_type_access:is_public": false,
            extra_specs: { driver_handles_share_servers: "False" },
          },
          keep: "type",
          more: { headers: newest },
        }),
        {
          says: "access",
          call: "POST /types/{type}/action",
          as: "admin",
          headers: newest,
          body: { addProjectAccess: { project: "{altProject}" } },
        },
        found("/types/{type}/share_type_access", "share_type_access.0.project_id"),
      ]),
    ),
    idField: "project_id",
  },
];
