import type { RawCase } from "../case.ts";
import type { FilteredList } from "./list.ts";
import { as, made, network, subnet } from "./made.ts";
import { networkLists } from "./network-lists.ts";

const nova = (path: string, many: string, make: readonly RawCase[], more: FilteredList["more"] = {}): FilteredList => ({
  service: "compute",
  path,
  many,
  make,
  more,
  headers: { "openstack-api-version": "compute 2.79" },
  as: "member",
});

const image: RawCase = {
  says: "an image",
  service: "image",
  call: "GET /v2/images?name=cirros",
  keep: { image: "images.0.id" },
};

const computeLists: readonly FilteredList[] = [
  nova(
    "/servers/detail",
    "servers",
    [
      image,
      made({
        path: "/servers",
        one: "server",
        body: {
          name: "{run}-s",
          description: "{run}",
          flavorRef: "1",
          imageRef: "{image}",
          networks: "none",
          tags: ["{run}"],
        },
        more: { as: "member", headers: { "openstack-api-version": "compute 2.79" } },
      }),
      {
        says: "is active",
        call: "GET /servers/{id}",
        headers: { "openstack-api-version": "compute 2.79" },
        until: { field: "server.status", is: ["ACTIVE", "ERROR"] },
      },
    ],
    {
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
    },
  ),
];

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

const volumeLists: readonly FilteredList[] = [
  cinder("/volumes/detail", "volumes", [as(volume), available], {
    metadata: ["{'{run}': 'x'}", "{'{run}': 'y'}"],
    availability_zone: ["nova", "az2"],
  }),
  cinder("/snapshots/detail", "snapshots", [
    volume,
    available,
    made({
      path: "/snapshots",
      one: "snapshot",
      body: { name: "{run}-p", description: "{run}", volume_id: "{vol}" },
      more: { as: "member" },
    }),
    {
      says: "the snapshot is available",
      call: "GET /snapshots/{id}",
      until: { field: "snapshot.status", is: ["available", "error"] },
    },
  ]),
  {
    ...cinder("/types", "volume_types", [made({ path: "/types", one: "volume_type", body: { name: "{run}-t" } })]),
    as: "admin",
  },
];

const imageLists: readonly FilteredList[] = [
  {
    service: "image",
    path: "/v2/images?limit=1000",
    many: "images",
    as: "member",
    make: [
      made({
        path: "/v2/images",
        one: "",
        body: {
          name: "{run}-i",
          disk_format: "raw",
          container_format: "bare",
          min_disk: 3,
          min_ram: 5,
          tags: ["{run}"],
          os_distro: "{run}",
        },
        more: { as: "member" },
      }),
    ],
    more: { tag: ["{run}", "{run}-x"] },
  },
];

const balancer: RawCase = {
  ...made({
    path: "/v2/lbaas/loadbalancers",
    one: "loadbalancer",
    body: {
      name: "{run}-lb",
      description: "{run}",
      vip_network_id: "{net}",
      provider: "ovn",
      tags: ["{run}"],
      listeners: [
        {
          name: "{run}-l",
          protocol: "TCP",
          protocol_port: 80,
          default_pool: {
            name: "{run}-p",
            protocol: "TCP",
            lb_algorithm: "SOURCE_IP_PORT",
            members: [{ name: "{run}-m", address: "10.61.0.99", protocol_port: 81 }],
          },
        },
      ],
    },
    keep: "lb",
    more: { as: "member", undo: "DELETE /v2/lbaas/loadbalancers/{lb}?cascade=true" },
  }),
};
const elsewhere = (each: RawCase): RawCase => ({ ...each, service: "network", as: "member" });
const balanced: readonly RawCase[] = [
  elsewhere(network),
  elsewhere(subnet),
  balancer,
  {
    says: "the load balancer is active",
    call: "GET /v2/lbaas/loadbalancers/{lb}",
    until: { field: "loadbalancer.provisioning_status", is: ["ACTIVE", "ERROR"] },
    keep: { listener: "loadbalancer.listeners.0.id", pool: "loadbalancer.pools.0.id" },
  },
];
const octavia = (path: string, many: string, find: RawCase): FilteredList => ({
  service: "load-balancer",
  path: `/v2/lbaas/${path}`,
  many,
  make: [...balanced, find],
  as: "member",
});

const balancerLists: readonly FilteredList[] = [
  octavia("loadbalancers", "loadbalancers", {
    says: "the load balancer",
    call: "GET /v2/lbaas/loadbalancers/{lb}",
    keep: { id: "loadbalancer.id" },
  }),
  octavia("listeners", "listeners", {
    says: "the listener",
    call: "GET /v2/lbaas/listeners/{listener}",
    keep: { id: "listener.id" },
  }),
  octavia("pools", "pools", { says: "the pool", call: "GET /v2/lbaas/pools/{pool}", keep: { id: "pool.id" } }),
  octavia("pools/{pool}/members", "members", {
    says: "the member",
    call: "GET /v2/lbaas/pools/{pool}/members",
    keep: { id: "members.0.id" },
  }),
];

const keystone = (
  path: string,
  many: string,
  make: readonly RawCase[],
  more: FilteredList["more"] = {},
): FilteredList => ({
  service: "identity",
  path,
  many,
  make,
  more,
});

const identityLists: readonly FilteredList[] = [
  keystone("/projects", "projects", [
    made({ path: "/projects", one: "project", body: { name: "{run}-p", description: "{run}", tags: ["{run}"] } }),
  ]),
  keystone("/users", "users", [made({ path: "/users", one: "user", body: { name: "{run}-u", description: "{run}" } })]),
  keystone("/groups", "groups", [
    made({ path: "/groups", one: "group", body: { name: "{run}-g", description: "{run}" } }),
  ]),
  keystone("/roles", "roles", [made({ path: "/roles", one: "role", body: { name: "{run}-r", description: "{run}" } })]),
  keystone("/services", "services", [
    made({ path: "/services", one: "service", body: { name: "{run}-s", type: "{run}", description: "{run}" } }),
  ]),
];

const keyLists: readonly FilteredList[] = [
  {
    service: "key-manager",
    path: "/v1/secrets?limit=100",
    many: "secrets",
    as: "member",
    idField: "name",
    make: [
      {
        says: "a secret",
        call: "POST /v1/secrets",
        body: {
          name: "{run}-s",
          algorithm: "aes",
          mode: "cbc",
          bit_length: 192,
          secret_type: "opaque",
          expiration: "2100-01-01T00:00:00",
        },
        keep: { ref: "secret_ref" },
        undo: "DELETE {ref}",
      },
      { says: "its name", call: "GET {ref}", keep: { id: "name" } },
    ],
    more: {
      bits: ["192", "256"],
      alg: ["aes", "des"],
      mode: ["cbc", "ctr"],
      secret_type: ["opaque", "passphrase"],
      expiration: ["gt:2099-01-01T00:00:00", "gt:2101-01-01T00:00:00"],
      created: ["gt:2020-01-01T00:00:00", "lt:2020-01-01T00:00:00"],
    },
  },
];

const shareLists: readonly FilteredList[] = [
  {
    service: "sharev2",
    path: "/share-networks/detail",
    many: "share_networks",
    as: "member",
    headers: { "x-openstack-manila-api-version": "2.73" },
    make: [
      made({
        path: "/share-networks",
        one: "share_network",
        body: { name: "{run}-n", description: "{run}" },
        more: { as: "member", headers: { "x-openstack-manila-api-version": "2.73" } },
      }),
    ],
  },
  {
    service: "sharev2",
    path: "/security-services/detail",
    many: "security_services",
    as: "member",
    headers: { "x-openstack-manila-api-version": "2.73" },
    make: [
      made({
        path: "/security-services",
        one: "security_service",
        body: {
          name: "{run}-s",
          description: "{run}",
          type: "ldap",
          dns_ip: "10.0.0.9",
          server: "{run}",
          user: "{run}",
        },
        more: { as: "member", headers: { "x-openstack-manila-api-version": "2.73" } },
      }),
    ],
  },
];

const placementLists: readonly FilteredList[] = [
  {
    service: "placement",
    path: "/resource_providers",
    many: "resource_providers",
    idField: "uuid",
    headers: { "openstack-api-version": "placement 1.39" },
    make: [
      {
        says: "a provider",
        call: "POST /resource_providers",
        as: "admin",
        headers: { "openstack-api-version": "placement 1.39" },
        body: { name: "{run}-p" },
        keep: { id: "uuid" },
        undo: "DELETE /resource_providers/{id}",
      },
    ],
  },
];

/** Every list that is asked for all its filters. */
export const filteredLists: readonly FilteredList[] = [
  ...networkLists,
  ...computeLists,
  ...volumeLists,
  ...imageLists,
  ...balancerLists,
  ...identityLists,
  ...keyLists,
  ...shareLists,
  ...placementLists,
];
