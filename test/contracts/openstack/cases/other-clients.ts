import type { RawCase, RawGroup } from "../case.ts";

const admin = (cases: readonly RawCase[]): readonly RawCase[] => cases.map((one) => ({ as: "admin", ...one }));
const nova = (version: string) => ({ "openstack-api-version": `compute ${version}` });
const rule = { local: [{ user: { name: "{0}" } }], remote: [{ type: "UserName" }] };

/** What clients of others ask for that none of ours does. */
export const otherClientGroups: readonly RawGroup[] = [
  {
    name: "segments",
    service: "network",
    cases: admin([
      {
        says: "a network for segments is created",
        call: "POST /v2.0/networks",
        body: { network: { name: "{run}-g" } },
        keep: { n: "network.id" },
        undo: "DELETE /v2.0/networks/{n}",
      },
      {
        says: "a network has one segment",
        call: "GET /v2.0/segments?network_id={n}",
        exact: ["segments.0.network_type", "segments.0.revision_number"],
        keep: { first: "segments.0.id" },
      },
      {
        says: "a second segment is created",
        call: "POST /v2.0/segments",
        body: { segment: { network_id: "{n}", network_type: "geneve", name: "s" } },
        keep: { s: "segment.id" },
        exact: ["segment.name", "segment.description", "segment.revision_number"],
      },
      { says: "the network of two segments is shown with both", call: "GET /v2.0/networks/{n}" },
      { says: "a segment is shown", call: "GET /v2.0/segments/{s}" },
      {
        says: "a segment is renamed",
        call: "PUT /v2.0/segments/{s}",
        body: { segment: { name: "t", description: "d" } },
      },
      {
        says: "the network type of a segment is not changed",
        call: "PUT /v2.0/segments/{s}",
        body: { segment: { network_type: "vlan" } },
      },
      {
        says: "a segment of an unknown network type is rejected",
        call: "POST /v2.0/segments",
        body: { segment: { network_id: "{n}", network_type: "wrong" } },
      },
      {
        says: "a segment without a network type is rejected",
        call: "POST /v2.0/segments",
        body: { segment: { network_id: "{n}" } },
      },
      {
        says: "a segment without a network is rejected",
        call: "POST /v2.0/segments",
        body: { segment: { network_type: "geneve" } },
      },
      { says: "a member lists no segments", call: "GET /v2.0/segments", as: "member", exact: ["segments"] },
      { says: "a member is not shown a segment", call: "GET /v2.0/segments/{s}", as: "member" },
      {
        says: "a member creates no segment",
        call: "POST /v2.0/segments",
        as: "member",
        body: { segment: { network_id: "{n}", network_type: "geneve" } },
      },
      { says: "a segment is deleted", call: "DELETE /v2.0/segments/{s}" },
      { says: "a deleted segment is not found", call: "GET /v2.0/segments/{s}" },
      { says: "the first segment of a network is deleted", call: "DELETE /v2.0/segments/{first}" },
      {
        says: "a network without segments has no network type",
        call: "GET /v2.0/networks/{n}?fields=provider:network_type&fields=provider:segmentation_id",
        exact: ["network"],
      },
    ]),
  },
  {
    name: "names files and actions",
    service: "compute",
    cases: admin([
      {
        says: "an image for a server is found",
        call: "GET /v2/images?name=cirros",
        service: "image",
        keep: { image: "images.0.id" },
        statusOnly: true,
      },
      {
        says: "a network for a server is created",
        call: "POST /v2.0/networks",
        service: "network",
        body: { network: { name: "{run}-f" } },
        keep: { n: "network.id" },
        undo: "DELETE /v2.0/networks/{n}",
        statusOnly: true,
      },
      {
        says: "a subnet for a server is created",
        call: "POST /v2.0/subnets",
        service: "network",
        body: { subnet: { network_id: "{n}", ip_version: 4, cidr: "10.9.0.0/24" } },
        statusOnly: true,
      },
      {
        says: "a server is created",
        call: "POST /servers",
        headers: nova("2.37"),
        body: { server: { name: "{run}-p", flavorRef: "1", imageRef: "{image}", networks: "none" } },
        keep: { s: "server.id" },
        undo: "DELETE /servers/{s}",
      },
      {
        says: "a new server becomes active",
        call: "GET /servers/{s}",
        statusOnly: true,
        until: { field: "server.status", is: ["ACTIVE"] },
      },
      {
        says: "a host name of a server is set",
        call: "PUT /servers/{s}",
        headers: nova("2.90"),
        body: { server: { hostname: "NewName" } },
        statusOnly: true,
      },
      {
        says: "a host name with a dot is rejected",
        call: "PUT /servers/{s}",
        headers: nova("2.90"),
        body: { server: { hostname: "a.b" } },
      },
      {
        says: "an empty host name is rejected",
        call: "PUT /servers/{s}",
        headers: nova("2.90"),
        body: { server: { hostname: "" } },
      },
      {
        says: "a host name is rejected before its microversion",
        call: "PUT /servers/{s}",
        headers: nova("2.89"),
        body: { server: { hostname: "ab" } },
      },
      {
        says: "a page of server actions is listed",
        call: "GET /servers/{s}/os-instance-actions?limit=1",
        headers: nova("2.66"),
      },
      {
        says: "server actions are listed by changes-before",
        call: "GET /servers/{s}/os-instance-actions?changes-before=2020-01-01T00:00:00Z",
        headers: nova("2.66"),
        exact: ["instanceActions"],
      },
      {
        says: "changes-before is rejected before its microversion",
        call: "GET /servers/{s}/os-instance-actions?changes-before=2020-01-01T00:00:00Z",
        headers: nova("2.65"),
      },
      {
        says: "a missing marker of server actions is rejected",
        call: "GET /servers/{s}/os-instance-actions?marker=nope",
        headers: nova("2.66"),
      },
      {
        says: "a malformed changes-since is rejected",
        call: "GET /servers/{s}/os-instance-actions?changes-since=abc",
        headers: nova("2.66"),
      },
      ...Object.entries({
        "more files than the quota permits are rejected": Array.from({ length: 6 }, () => ({
          path: "/a",
          contents: "aGk=",
        })),
        "a personality that is no list is rejected": { a: 1 },
        "a file that is no object is rejected": [7],
        "a file with an unknown field is rejected": [{ path: "/a", contents: "aGk=", x: 1 }],
        "a file path that is too long is rejected": [{ path: `/${"a".repeat(300)}`, contents: "aGk=" }],
      }).map(([says, personality]) => ({
        says,
        call: "POST /servers",
        body: { server: { name: "n", flavorRef: "1", imageRef: "{image}", networks: [{ uuid: "{n}" }], personality } },
      })),
      { says: "the uptime of a hypervisor is not implemented", call: "GET /os-hypervisors/1/uptime" },
    ]),
  },
  {
    name: "filters mappings and endpoint filters",
    service: "identity",
    cases: admin([
      {
        says: "a project with tags is created",
        call: "POST /projects",
        body: { project: { name: "{run}-Project", tags: ["one", "two"] } },
        keep: { p: "project.id" },
        undo: "DELETE /projects/{p}",
      },
      ...[
        "name__contains={run}-Pro",
        "name__contains={run}-pro",
        "name__icontains={run}-pro",
        "name__startswith={run}",
      ].map((query) => ({
        says: `projects are filtered by ${query}`,
        call: `GET /projects?${query}`,
        exact: ["projects.0.tags"],
      })),
      ...["tags=two,one", "tags=one,three", "tags-any=one,three", "not-tags-any=one"].map((query) => ({
        says: `projects are filtered by ${query}`,
        call: `GET /projects?name={run}-Project&${query}`,
      })),
      {
        says: "a group with an extra field is created",
        call: "POST /groups",
        body: { group: { name: "{run}-g", email: "e" } },
        keep: { g: "group.id" },
        undo: "DELETE /groups/{g}",
        exact: ["group.email"],
      },
      {
        says: "an extra field of a group is changed",
        call: "PATCH /groups/{g}",
        body: { group: { email: "f" } },
        exact: ["group.email"],
      },
      { says: "the limit model is shown", call: "GET /limits/model", exact: ["model"] },
      {
        says: "a mapping is created",
        call: "PUT /OS-FEDERATION/mappings/{run}",
        body: { mapping: { rules: [rule] } },
        undo: "DELETE /OS-FEDERATION/mappings/{run}",
      },
      {
        says: "a second mapping of the same ID is rejected",
        call: "PUT /OS-FEDERATION/mappings/{run}",
        body: { mapping: { rules: [rule] } },
      },
      { says: "a mapping is shown", call: "GET /OS-FEDERATION/mappings/{run}" },
      {
        says: "a mapping is updated",
        call: "PATCH /OS-FEDERATION/mappings/{run}",
        body: { mapping: { rules: [rule] } },
      },
      {
        says: "a mapping without rules is rejected",
        call: "PUT /OS-FEDERATION/mappings/{run}x",
        body: { mapping: {} },
      },
      { says: "a missing mapping is not found", call: "GET /OS-FEDERATION/mappings/{nothing}" },
      {
        says: "a public endpoint is found",
        call: "GET /endpoints?interface=public",
        keep: { e: "endpoints.0.id" },
        statusOnly: true,
      },
      { says: "an endpoint is associated with a project", call: "PUT /OS-EP-FILTER/projects/{p}/endpoints/{e}" },
      { says: "the endpoints associated with a project are listed", call: "GET /OS-EP-FILTER/projects/{p}/endpoints" },
      { says: "an endpoint is disassociated from a project", call: "DELETE /OS-EP-FILTER/projects/{p}/endpoints/{e}" },
      {
        says: "a disassociated endpoint is not disassociated again",
        call: "DELETE /OS-EP-FILTER/projects/{p}/endpoints/{e}",
        statusOnly: true,
      },
      {
        says: "an endpoint is not associated with a missing project",
        call: "PUT /OS-EP-FILTER/projects/{nothing}/endpoints/{e}",
      },
    ]),
  },
  {
    name: "paths without a prefix",
    service: "load-balancer",
    cases: admin([
      {
        says: "load balancers are listed by the path without lbaas",
        call: "GET /v2.0/loadbalancers?name={run}",
        exact: ["loadbalancers"],
      },
      { says: "the quotas of an unknown project are shown", call: "GET /v2.0/quotas/{run}" },
      { says: "flavors are listed by the path without lbaas", call: "GET /v2/flavors", statusOnly: true },
      { says: "amphorae are not found by the path without octavia", call: "GET /v2/amphorae", statusOnly: true },
      { says: "a path with both prefixes is not found", call: "GET /v2/lbaas/octavia/amphorae", statusOnly: true },
    ]),
  },
  {
    name: "times and import methods",
    service: "image",
    cases: [
      {
        says: "images are filtered by a creation since a time",
        call: "GET /v2/images?created_at=gte:2014-01-01T00:00:00Z&name={run}",
        exact: ["images"],
      },
      {
        says: "images are filtered by the exact time of creation",
        call: "GET /v2/images?created_at=2014-01-01T00:00:00Z",
        exact: ["images"],
      },
      {
        says: "images are filtered by a change before a time",
        call: "GET /v2/images?updated_at=lt:2014-01-01T00:00:00Z",
        exact: ["images"],
      },
      { says: "a malformed time of creation is rejected", call: "GET /v2/images?created_at=gt:20x" },
      { says: "an unknown comparison of times is rejected", call: "GET /v2/images?created_at=foo:2014" },
      { says: "the import methods of images are listed", call: "GET /v2/info/import", exact: ["import-methods"] },
    ],
  },
];
