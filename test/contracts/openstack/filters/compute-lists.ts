import type { FilteredList } from "./list.ts";
import { made, network, subnet } from "./made.ts";
import { byAdmin, member, newest, nova, proxied, server, there, volume } from "./nova.ts";
import { proxyLists } from "./proxy-lists.ts";

const serverFilters: FilteredList["more"] = {
  name: ["^{run}-s$", "^{run}-x$"],
  status: ["ACTIVE", "SHUTOFF"],
  vm_state: ["ACTIVE", "STOPPED"],
  flavor: ["1", "2"],
  image: ["{image}", "{nothing}"],
  tags: ["{run}", "{run}-x"],
  "tags-any": ["{run},x", "{run}-x"],
  "not-tags": ["{run}-x", "{run}"],
  "not-tags-any": ["{run}-x", "{run}"],
  uuid: ["{id}", "{nothing}"],
  project_id: ["{project}", "{altProject}"],
  availability_zone: ["nova", "az2"],
  locked: ["false", "true"],
};

const flavor = made({
  path: "/flavors",
  one: "flavor",
  body: { name: "{run}-f", ram: 64, disk: 3, vcpus: 1, description: "{run}" },
  more: { headers: newest },
});
const flavorFilters: FilteredList["more"] = {
  minRam: ["64", "65"],
  minDisk: ["3", "4"],
  is_public: ["true", "false"],
};

export const computeLists: readonly FilteredList[] = [
  nova("/servers/detail", "servers", server("none"), serverFilters),
  { ...nova("/servers", "servers", server("none"), serverFilters), detail: "/servers/detail" },
  byAdmin(nova("/flavors/detail", "flavors", [flavor], flavorFilters)),
  { ...byAdmin(nova("/flavors", "flavors", [flavor], flavorFilters)), detail: "/flavors/detail" },
  {
    idField: "flavor_id",
    ...byAdmin(
      nova("/flavors/{flavor}/os-flavor-access", "flavor_access", [
        made({
          path: "/flavors",
          one: "flavor",
          body: { name: "{run}-f", ram: 64, disk: 3, vcpus: 1, "os-flavor-access:is_public": false },
          keep: "flavor",
          more: { headers: newest },
        }),
        {
          says: "access",
          call: "POST /flavors/{flavor}/action",
          as: "admin",
          headers: newest,
          body: { addTenantAccess: { tenant: "{altProject}" } },
          keep: { id: "flavor_access.0.flavor_id" },
        },
      ]),
    ),
  },
  {
    ...byAdmin(
      nova(
        "/os-keypairs",
        "keypairs",
        [
          {
            says: "a key",
            call: "POST /os-keypairs",
            as: "admin",
            headers: newest,
            body: { keypair: { name: "{run}-k", type: "ssh" } },
            undo: "DELETE /os-keypairs/{run}-k",
          },
          there("/os-keypairs/{run}-k", "keypair.name"),
        ],
        { user_id: ["{adminUser}", "{nothing}"] },
      ),
    ),
    idField: "name",
  },
  nova("/os-server-groups", "server_groups", [
    {
      says: "a group",
      call: "POST /os-server-groups",
      headers: newest,
      body: { server_group: { name: "{run}-g", policy: "anti-affinity" } },
      keep: { id: "server_group.id" },
      undo: "DELETE /os-server-groups/{id}",
    },
  ]),
  byAdmin(
    nova("/os-aggregates", "aggregates", [
      {
        says: "an aggregate",
        call: "POST /os-aggregates",
        as: "admin",
        headers: newest,
        body: { aggregate: { name: "{run}-a" } },
        keep: { id: "aggregate.id" },
        undo: "DELETE /os-aggregates/{id}",
      },
    ]),
  ),
  byAdmin(
    nova("/os-hypervisors/detail", "hypervisors", [there("/os-hypervisors", "hypervisors.0.id")], {
      hypervisor_hostname_pattern: ["compute", "nowhere"],
      with_servers: ["true", "false"],
    }),
  ),
  {
    ...byAdmin(
      nova("/os-hypervisors", "hypervisors", [there("/os-hypervisors", "hypervisors.0.id")], {
        hypervisor_hostname_pattern: ["compute", "nowhere"],
        with_servers: ["true", "false"],
      }),
    ),
    detail: "/os-hypervisors/detail",
  },
  byAdmin(nova("/os-services", "services", [there("/os-services", "services.0.id")])),
  {
    ...byAdmin(nova("/os-hosts", "hosts", [there("/os-hosts", "hosts.0.host_name", { headers: proxied })])),
    headers: proxied,
    idField: "host_name",
  },
  {
    ...nova("/os-availability-zone", "availabilityZoneInfo", [
      there("/os-availability-zone", "availabilityZoneInfo.0.zoneName", { as: "member" }),
    ]),
    idField: "zoneName",
  },
  {
    ...nova(
      "/servers/{server}/os-instance-actions",
      "instanceActions",
      [
        ...server("none"),
        there("/servers/{server}/os-instance-actions", "instanceActions.0.request_id", { as: "member" }),
      ],
      {
        "changes-since": ["2020-01-01T00:00:00", "2100-01-01T00:00:00"],
        "changes-before": ["2100-01-01T00:00:00", "2020-01-01T00:00:00"],
      },
    ),
    idField: "request_id",
  },
  {
    ...nova("/servers/{server}/os-interface", "interfaceAttachments", [
      member(network),
      member(subnet),
      ...server([{ uuid: "{net}" }]),
      there("/servers/{server}/os-interface", "interfaceAttachments.0.port_id", { as: "member" }),
    ]),
    idField: "port_id",
  },
  nova("/servers/{server}/os-volume_attachments", "volumeAttachments", [
    ...volume,
    ...server("none"),
    {
      says: "attaches the volume, which goes with the server",
      call: "POST /servers/{server}/os-volume_attachments",
      headers: newest,
      body: { volumeAttachment: { volumeId: "{volume}", delete_on_termination: true } },
    },
    {
      says: "the volume is attached",
      service: "volumev3",
      call: "GET /volumes/{volume}",
      until: { field: "volume.status", is: ["in-use", "error"] },
      keep: { id: "volume.id" },
    },
  ]),
  ...proxyLists,
  byAdmin(
    nova(
      "/os-migrations",
      "migrations",
      [
        ...server("none"),
        {
          says: "is resized",
          call: "POST /servers/{server}/action",
          headers: newest,
          body: { resize: { flavorRef: "2" } },
        },
        {
          says: "waits to be confirmed",
          call: "GET /servers/{server}",
          headers: newest,
          until: { field: "server.status", is: ["VERIFY_RESIZE", "ERROR"] },
        },
        there("/os-migrations?instance_uuid={server}", "migrations.0.id"),
      ],
      {
        status: ["finished", "error"],
        host: ["compute-1", "nowhere"],
        instance_uuid: ["{server}", "{nothing}"],
        migration_type: ["resize", "evacuation"],
        source_compute: ["compute-1", "nowhere"],
        user_id: ["{user}", "{nothing}"],
        project_id: ["{project}", "{altProject}"],
      },
    ),
  ),
  {
    ...nova("/servers/{server}/os-security-groups", "security_groups", [
      member(network),
      member(subnet),
      ...server([{ uuid: "{net}" }]),
      there("/servers/{server}/os-security-groups", "security_groups.0.id", { as: "member" }),
    ]),
  },
  {
    ...byAdmin(
      nova("/os-availability-zone/detail", "availabilityZoneInfo", [
        there("/os-availability-zone", "availabilityZoneInfo.0.zoneName"),
      ]),
    ),
    idField: "zoneName",
  },
];
