import type { RawCase } from "../case.ts";
import type { FilteredList } from "./list.ts";

interface Made {
  readonly path: string;
  /** Key of the object in bodies; "": the body is the object. */
  readonly one: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** What its id is kept as. Default "id". */
  readonly keep?: string;
  /** Where its answer has the id. Default: in `one`. */
  readonly at?: string;
  readonly more?: Partial<RawCase>;
}

/** A case that makes an object as the administrator, and deletes it in the end. */
const made = ({ path, one, body, keep = "id", at, more }: Made): RawCase => ({
  says: `makes ${keep} at ${path}`,
  call: `POST ${path}`,
  as: "admin",
  body: one === "" ? body : { [one]: body },
  keep: { [keep]: at ?? (one === "" ? "id" : `${one}.id`) },
  undo: `DELETE ${path}/{${keep}}`,
  ...more,
});

const network = made({
  path: "/v2.0/networks",
  one: "network",
  body: { name: "{run}-n", description: "{run}" },
  keep: "net",
});
const subnet = made({
  path: "/v2.0/subnets",
  one: "subnet",
  body: { name: "{run}-s", description: "{run}", network_id: "{net}", ip_version: 4, cidr: "10.61.0.0/24" },
  keep: "sub",
});
const group = made({
  path: "/v2.0/security-groups",
  one: "security_group",
  body: { name: "{run}-g", description: "{run}" },
  keep: "group",
});
const as = (each: RawCase, keep = "id"): RawCase => {
  const [[name = "", path = ""] = []] = Object.entries(each.keep ?? {});
  return { ...each, keep: { [name]: path, [keep]: path } };
};

const neutron = (
  path: string,
  many: string,
  make: readonly RawCase[],
  more: FilteredList["more"] = {},
): FilteredList => ({
  service: "network",
  path: `/v2.0/${path}`,
  many,
  make,
  more,
});

const external: RawCase = {
  says: "the external network",
  call: "GET /v2.0/networks?name=public",
  keep: { public: "networks.0.id" },
};

const networkLists: readonly FilteredList[] = [
  neutron("networks", "networks", [as(network), subnet]),
  neutron("subnets", "subnets", [network, as(subnet)], { network_id: ["{net}", "{nothing}"] }),
  neutron(
    "ports",
    "ports",
    [
      network,
      subnet,
      group,
      made({
        path: "/v2.0/ports",
        one: "port",
        body: {
          name: "{run}-p",
          description: "{run}",
          network_id: "{net}",
          device_id: "{run}",
          device_owner: "{run}:x",
          security_groups: ["{group}"],
          "binding:host_id": "{run}-host",
        },
      }),
    ],
    { fixed_ips: ["subnet_id={sub}", "subnet_id={nothing}"] },
  ),
  neutron("routers", "routers", [
    made({ path: "/v2.0/routers", one: "router", body: { name: "{run}-r", description: "{run}" } }),
  ]),
  neutron("floatingips", "floatingips", [
    external,
    made({
      path: "/v2.0/floatingips",
      one: "floatingip",
      body: { floating_network_id: "{public}", description: "{run}" },
    }),
  ]),
  neutron("security-groups", "security_groups", [as(group)]),
  neutron("security-group-rules", "security_group_rules", [
    group,
    made({
      path: "/v2.0/security-group-rules",
      one: "security_group_rule",
      body: {
        security_group_id: "{group}",
        direction: "ingress",
        ethertype: "IPv4",
        protocol: "tcp",
        port_range_min: 4711,
        port_range_max: 4712,
        remote_ip_prefix: "10.62.0.0/24",
        description: "{run}",
      },
    }),
  ]),
  neutron("trunks", "trunks", [
    network,
    made({ path: "/v2.0/ports", one: "port", body: { network_id: "{net}" }, keep: "parent" }),
    made({ path: "/v2.0/trunks", one: "trunk", body: { name: "{run}-t", description: "{run}", port_id: "{parent}" } }),
  ]),
  neutron("address-groups", "address_groups", [
    made({
      path: "/v2.0/address-groups",
      one: "address_group",
      body: { name: "{run}-a", description: "{run}", addresses: ["10.63.0.0/24"] },
    }),
  ]),
  neutron("address-scopes", "address_scopes", [
    made({ path: "/v2.0/address-scopes", one: "address_scope", body: { name: "{run}-s", ip_version: 4 } }),
  ]),
  neutron("subnetpools", "subnetpools", [
    made({
      path: "/v2.0/address-scopes",
      one: "address_scope",
      body: { name: "{run}-s", ip_version: 4 },
      keep: "scope",
    }),
    made({
      path: "/v2.0/subnetpools",
      one: "subnetpool",
      body: {
        name: "{run}-p",
        description: "{run}",
        prefixes: ["10.64.0.0/16"],
        address_scope_id: "{scope}",
        default_quota: 9,
      },
    }),
  ]),
  neutron("qos/policies", "policies", [
    made({ path: "/v2.0/qos/policies", one: "policy", body: { name: "{run}-q", description: "{run}" } }),
  ]),
  neutron("rbac-policies", "rbac_policies", [
    network,
    made({
      path: "/v2.0/rbac-policies",
      one: "rbac_policy",
      body: { object_type: "network", object_id: "{net}", action: "access_as_shared", target_tenant: "{altProject}" },
    }),
  ]),
  neutron("segments", "segments", [
    network,
    {
      says: "the network's segment",
      call: "GET /v2.0/segments?network_id={net}",
      as: "admin",
      keep: { id: "segments.0.id" },
    },
  ]),
  neutron("flavors", "flavors", [
    made({
      path: "/v2.0/flavors",
      one: "flavor",
      body: { name: "{run}-f", description: "{run}", service_type: "L3_ROUTER_NAT", enabled: true },
    }),
  ]),
];

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
