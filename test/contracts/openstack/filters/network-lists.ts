import type { FilteredList } from "./list.ts";
import { as, external, group, made, network, neutron, subnet } from "./made.ts";
import { networkBuiltInLists } from "./network-built-in-lists.ts";

export const networkLists: readonly FilteredList[] = [
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
  ...networkBuiltInLists,
];
