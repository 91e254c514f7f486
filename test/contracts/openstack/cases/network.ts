import type { RawGroup } from "../case.ts";
import { flavorGroup, policyGroup } from "./policies.ts";
import { portGroup } from "./ports.ts";
import { collectionCases } from "./collection-cases.ts";

const collections = [
  ["networks", "network"],
  ["subnets", "subnet"],
  ["ports", "port"],
  ["routers", "router"],
  ["floatingips", "floatingip"],
  ["security-groups", "security_group"],
  ["trunks", "trunk"],
  ["subnetpools", "subnetpool"],
  ["address-groups", "address_group"],
] as const;

export const networkGroups: readonly RawGroup[] = [
  {
    name: "every collection",
    service: "network",
    cases: [
      { says: "Neutron lists its versions", call: "GET ^/", statusOnly: true },
      { says: "a missing extension is not found", call: "GET /v2.0/extensions/nonsense" },
      { says: "an unknown path is not found", call: "GET /v2.0/nonsense" },
      ...collections.flatMap(([path, one]) =>
        collectionCases({
          path: `/v2.0/${path}`,
          one,
          change: "PUT",
          filter: one === "floatingip" ? "description={run}" : "name={run}",
        }),
      ),
      ...collections.flatMap(([path]) => [
        {
          says: `${path} sorted by an unknown field are rejected`,
          call: `GET /v2.0/${path}?sort_key=wrong&sort_dir=asc`,
        },
        { says: `${path} with a negative limit are rejected`, call: `GET /v2.0/${path}?limit=-1` },
      ]),
    ],
  },
  {
    name: "networks and subnets",
    service: "network",
    cases: [
      {
        says: "a network is created",
        call: "POST /v2.0/networks",
        body: { network: { name: "{run}-n", description: "d" } },
        keep: { n: "network.id" },
        exact: ["network.status", "network.mtu", "network.shared", "network.admin_state_up"],
        undo: "DELETE /v2.0/networks/{n}",
      },
      { says: "a network is shown", call: "GET /v2.0/networks/{n}" },
      { says: "a network is shown with selected fields", call: "GET /v2.0/networks/{n}?fields=id&fields=name" },
      {
        says: "a network is listed with selected fields",
        call: "GET /v2.0/networks?name={run}-n&fields=name",
        exact: ["networks"],
      },
      { says: "a network is not shown to another project", call: "GET /v2.0/networks/{n}", as: "alt" },
      {
        says: "a reader creates a network",
        call: "POST /v2.0/networks",
        body: { network: { name: "{run}-x" } },
        as: "reader",
      },
      {
        says: "a member does not share a network",
        call: "PUT /v2.0/networks/{n}",
        body: { network: { shared: true } },
      },
      {
        says: "a member does not make a network external",
        call: "PUT /v2.0/networks/{n}",
        body: { network: { "router:external": true } },
      },
      {
        says: "a network name that is no string is rejected",
        call: "POST /v2.0/networks",
        body: { network: { name: 5 } },
      },
      {
        says: "an unknown attribute of a network is rejected",
        call: "POST /v2.0/networks",
        body: { network: { wrong: 1 } },
      },
      {
        says: "a status in the create of a network is rejected",
        call: "POST /v2.0/networks",
        body: { network: { status: "ACTIVE" } },
      },
      { says: "a negative MTU is rejected", call: "POST /v2.0/networks", body: { network: { mtu: -1 } } },
      {
        says: "a member creates no network in another project",
        call: "POST /v2.0/networks",
        body: { network: { project_id: "{altProject}" } },
      },
      {
        says: "a network is renamed",
        call: "PUT /v2.0/networks/{n}",
        body: { network: { name: "{run}-m" } },
        exact: ["network.name"],
      },
      {
        says: "an update with a stale revision is rejected",
        call: "PUT /v2.0/networks/{n}",
        body: { network: { name: "{run}-m" } },
        headers: { "if-match": "revision_number=99" },
      },
      {
        says: "an update with a revision that is no number is accepted",
        call: "PUT /v2.0/networks/{n}",
        body: { network: { name: "{run}-m" } },
        headers: { "if-match": "nonsense" },
      },
      {
        says: "a subnet is created",
        call: "POST /v2.0/subnets",
        body: { subnet: { network_id: "{n}", ip_version: 4, cidr: "10.99.0.0/24", name: "{run}-s" } },
        keep: { s: "subnet.id" },
        exact: ["subnet.gateway_ip", "subnet.allocation_pools", "subnet.enable_dhcp"],
        undo: "DELETE /v2.0/subnets/{s}",
      },
      {
        says: "an overlapping subnet is rejected",
        call: "POST /v2.0/subnets",
        body: { subnet: { network_id: "{n}", ip_version: 4, cidr: "10.99.0.0/16" } },
      },
      {
        says: "a subnet of a missing network is rejected",
        call: "POST /v2.0/subnets",
        body: { subnet: { network_id: "{nothing}", ip_version: 4, cidr: "10.98.0.0/24" } },
      },
      {
        says: "a malformed CIDR is rejected",
        call: "POST /v2.0/subnets",
        body: { subnet: { network_id: "{n}", ip_version: 4, cidr: "wrong" } },
      },
      {
        says: "a CIDR of the other IP version is rejected",
        call: "POST /v2.0/subnets",
        body: { subnet: { network_id: "{n}", ip_version: 4, cidr: "2001:db8::/64" } },
      },
      {
        says: "an unknown IP version is rejected",
        call: "POST /v2.0/subnets",
        body: { subnet: { network_id: "{n}", ip_version: 5, cidr: "10.98.0.0/24" } },
      },
      {
        says: "a gateway outside of the subnet is accepted",
        call: "POST /v2.0/subnets",
        body: { subnet: { network_id: "{n}", ip_version: 4, cidr: "10.98.0.0/24", gateway_ip: "10.97.0.1" } },
        keep: { s2: "subnet.id" },
        undo: "DELETE /v2.0/subnets/{s2}",
      },
      {
        says: "an allocation pool outside of the subnet is rejected",
        call: "POST /v2.0/subnets",
        body: {
          subnet: {
            network_id: "{n}",
            ip_version: 4,
            cidr: "10.96.0.0/24",
            allocation_pools: [{ start: "10.95.0.2", end: "10.95.0.5" }],
          },
        },
      },
      {
        says: "a malformed name server is rejected",
        call: "POST /v2.0/subnets",
        body: { subnet: { network_id: "{n}", ip_version: 4, cidr: "10.96.0.0/24", dns_nameservers: ["wrong"] } },
      },
      {
        says: "the CIDR of a subnet is not changed",
        call: "PUT /v2.0/subnets/{s}",
        body: { subnet: { cidr: "10.1.0.0/24" } },
      },
      {
        says: "the name servers of a subnet are changed",
        call: "PUT /v2.0/subnets/{s}",
        body: { subnet: { dns_nameservers: ["192.0.2.1"] } },
        exact: ["subnet.dns_nameservers"],
      },
      {
        says: "the tags of a network are replaced",
        call: "PUT /v2.0/networks/{n}/tags",
        body: { tags: ["b", "a"] },
        statusOnly: true,
      },
      { says: "a tag of a network is found", call: "GET /v2.0/networks/{n}/tags/a" },
      { says: "a missing tag of a network is not found", call: "GET /v2.0/networks/{n}/tags/zzz" },
      {
        says: "a network is found by its tags",
        call: "GET /v2.0/networks?tags=a,b&name={run}-m&fields=name",
        exact: ["networks"],
      },
      { says: "a network is excluded by its tags", call: "GET /v2.0/networks?not-tags=a&name={run}-m" },
      {
        says: "the IP availability of a network is shown",
        call: "GET /v2.0/network-ip-availabilities/{n}",
        as: "admin",
      },
      {
        says: "a member is not shown the IP availability of a network",
        call: "GET /v2.0/network-ip-availabilities/{n}",
      },
    ],
  },
  portGroup,
  policyGroup,
  flavorGroup,
  {
    name: "routers floating IPs and quotas",
    service: "network",
    cases: [
      {
        says: "the external network is found",
        call: "GET /v2.0/networks?name=public&fields=id",
        keep: { x: "networks.0.id" },
      },
      {
        says: "a router with a gateway is created",
        call: "POST /v2.0/routers",
        body: { router: { name: "{run}-r", external_gateway_info: { network_id: "{x}" } } },
        keep: { r: "router.id" },
        exact: ["router.status", "router.admin_state_up", "router.routes"],
        undo: "DELETE /v2.0/routers/{r}",
      },
      {
        says: "a gateway on a missing network is rejected",
        call: "PUT /v2.0/routers/{r}",
        body: { router: { external_gateway_info: { network_id: "{nothing}" } } },
      },
      {
        says: "a network for a router is created",
        call: "POST /v2.0/networks",
        body: { network: { name: "{run}-n" } },
        keep: { n: "network.id" },
        undo: "DELETE /v2.0/networks/{n}",
      },
      {
        says: "a gateway on a private network is rejected",
        call: "PUT /v2.0/routers/{r}",
        body: { router: { external_gateway_info: { network_id: "{n}" } } },
      },
      {
        says: "a subnet for a router is created",
        call: "POST /v2.0/subnets",
        body: { subnet: { network_id: "{n}", ip_version: 4, cidr: "10.93.0.0/24" } },
        keep: { s: "subnet.id" },
        undo: "DELETE /v2.0/subnets/{s}",
      },
      {
        says: "a router interface is added",
        call: "PUT /v2.0/routers/{r}/add_router_interface",
        body: { subnet_id: "{s}" },
      },
      {
        says: "a second interface on the same subnet is rejected",
        call: "PUT /v2.0/routers/{r}/add_router_interface",
        body: { subnet_id: "{s}" },
      },
      {
        says: "a router interface without a subnet or port is rejected",
        call: "PUT /v2.0/routers/{r}/add_router_interface",
        body: {},
      },
      {
        says: "a router interface on a missing subnet is rejected",
        call: "PUT /v2.0/routers/{r}/add_router_interface",
        body: { subnet_id: "{nothing}" },
      },
      { says: "a router with an interface is not deleted", call: "DELETE /v2.0/routers/{r}" },
      {
        says: "a route is added to a router",
        call: "PUT /v2.0/routers/{r}",
        body: { router: { routes: [{ destination: "10.50.0.0/16", nexthop: "10.93.0.9" }] } },
        exact: ["router.routes"],
      },
      {
        says: "a route with an unreachable next hop is rejected",
        call: "PUT /v2.0/routers/{r}",
        body: { router: { routes: [{ destination: "10.50.0.0/16", nexthop: "192.0.2.1" }] } },
      },
      {
        says: "a malformed route is rejected",
        call: "PUT /v2.0/routers/{r}",
        body: { router: { routes: [{ destination: "wrong", nexthop: "10.93.0.9" }] } },
      },
      {
        says: "a router interface that a route uses is not removed",
        call: "PUT /v2.0/routers/{r}/remove_router_interface",
        body: { subnet_id: "{s}" },
      },
      { says: "the routes of a router are removed", call: "PUT /v2.0/routers/{r}", body: { router: { routes: [] } } },
      {
        says: "a floating IP is created",
        call: "POST /v2.0/floatingips",
        body: { floatingip: { floating_network_id: "{x}", description: "{run}" } },
        keep: { f: "floatingip.id" },
        exact: ["floatingip.status", "floatingip.fixed_ip_address"],
        undo: "DELETE /v2.0/floatingips/{f}",
      },
      {
        says: "a floating IP on a private network is rejected",
        call: "POST /v2.0/floatingips",
        body: { floatingip: { floating_network_id: "{n}" } },
      },
      { says: "a floating IP without a network is rejected", call: "POST /v2.0/floatingips", body: { floatingip: {} } },
      {
        says: "a member does not choose the address of a floating IP",
        call: "POST /v2.0/floatingips",
        body: { floatingip: { floating_network_id: "{x}", floating_ip_address: "172.24.4.5" } },
      },
      {
        says: "a floating IP is not associated with a missing port",
        call: "PUT /v2.0/floatingips/{f}",
        body: { floatingip: { port_id: "{nothing}" } },
      },
      {
        says: "a port for a floating IP is created",
        call: "POST /v2.0/ports",
        body: { port: { network_id: "{n}" } },
        keep: { p: "port.id" },
        undo: "DELETE /v2.0/ports/{p}",
      },
      {
        says: "a floating IP is associated with a port",
        call: "PUT /v2.0/floatingips/{f}",
        body: { floatingip: { port_id: "{p}" } },
      },
      {
        says: "a floating IP is disassociated",
        call: "PUT /v2.0/floatingips/{f}",
        body: { floatingip: { port_id: null } },
        exact: ["floatingip.port_id"],
      },
      {
        says: "a router interface is removed",
        call: "PUT /v2.0/routers/{r}/remove_router_interface",
        body: { subnet_id: "{s}" },
      },
      {
        says: "a removed router interface is not removed again",
        call: "PUT /v2.0/routers/{r}/remove_router_interface",
        body: { subnet_id: "{s}" },
      },
      { says: "the quotas of networks are shown", call: "GET /v2.0/quotas/{project}", statusOnly: true },
      { says: "a member is not shown quotas of another project", call: "GET /v2.0/quotas/{altProject}" },
      { says: "a member sets no quotas", call: "PUT /v2.0/quotas/{project}", body: { quota: { network: 1 } } },
      {
        says: "a quota that is no number is rejected",
        call: "PUT /v2.0/quotas/{project}",
        body: { quota: { network: "x" } },
        as: "admin",
      },
      {
        says: "the default quotas of networks are shown",
        call: "GET /v2.0/quotas/{project}/default",
        statusOnly: true,
      },
      { says: "a member lists no agents", call: "GET /v2.0/agents" },
      { says: "availability zones of networks are listed", call: "GET /v2.0/availability_zones", statusOnly: true },
    ],
  },
];
