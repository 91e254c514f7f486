import type { RawGroup } from "../case.ts";

export const portGroup: RawGroup = {
  name: "ports and groups",
  service: "network",
  cases: [
    {
      says: "a network for ports is created",
      call: "POST /v2.0/networks",
      body: { network: { name: "{run}-n" } },
      keep: { n: "network.id" },
      undo: "DELETE /v2.0/networks/{n}",
    },
    {
      says: "a subnet for ports is created",
      call: "POST /v2.0/subnets",
      body: { subnet: { network_id: "{n}", ip_version: 4, cidr: "10.99.0.0/29", name: "{run}-s" } },
      keep: { s: "subnet.id" },
      undo: "DELETE /v2.0/subnets/{s}",
    },
    {
      says: "a port is created",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", name: "{run}-p", fixed_ips: [{ ip_address: "10.99.0.3" }] } },
      keep: { p: "port.id", mac: "port.mac_address" },
      exact: ["port.status", "port.device_owner", "port.port_security_enabled"],
      undo: "DELETE /v2.0/ports/{p}",
    },
    { says: "a port is shown to an administrator", call: "GET /v2.0/ports/{p}", as: "admin" },
    {
      says: "an address that is in use is rejected",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", fixed_ips: [{ ip_address: "10.99.0.3" }] } },
    },
    {
      says: "an address outside of the subnet is rejected",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", fixed_ips: [{ ip_address: "10.98.0.3" }] } },
    },
    {
      says: "a MAC address that is in use is rejected",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", mac_address: "{mac}" } },
      as: "admin",
      statusOnly: true,
    },
    {
      says: "a malformed MAC address is rejected",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", mac_address: "wrong" } },
    },
    {
      says: "a port on a missing network is rejected",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{nothing}" } },
    },
    { says: "a port without a network is rejected", call: "POST /v2.0/ports", body: { port: { name: "x" } } },
    {
      says: "a port on a missing subnet is rejected",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", fixed_ips: [{ subnet_id: "{nothing}" }] } },
    },
    {
      says: "a port with a missing security group is rejected",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", security_groups: ["{nothing}"] } },
    },
    {
      says: "a member does not bind a port",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", "binding:host_id": "compute-1" } },
    },
    {
      says: "a port is found by its address",
      call: "GET /v2.0/ports?fixed_ips=ip_address%3D10.99.0.3&network_id={n}&fields=name",
      exact: ["ports"],
    },
    {
      says: "port security is required for allowed address pairs",
      call: "PUT /v2.0/ports/{p}",
      body: { port: { port_security_enabled: false } },
    },
    {
      says: "allowed address pairs are set",
      call: "PUT /v2.0/ports/{p}",
      body: { port: { allowed_address_pairs: [{ ip_address: "10.0.0.0/24" }] } },
    },
    {
      says: "two ports are created by one request",
      call: "POST /v2.0/ports",
      body: {
        ports: [
          { network_id: "{n}", name: "{run}-a" },
          { network_id: "{n}", name: "{run}-b" },
        ],
      },
      keep: { a: "ports.0.id", b: "ports.1.id" },
      undo: "DELETE /v2.0/ports/{a}",
    },
    { says: "a port is deleted", call: "DELETE /v2.0/ports/{b}" },
    {
      says: "a page of one port is listed",
      call: "GET /v2.0/ports?network_id={n}&limit=1&sort_key=name&sort_dir=asc&name={run}-p",
      statusOnly: true,
    },
    { says: "a network with ports is not deleted", call: "DELETE /v2.0/networks/{n}" },
    { says: "a subnet with ports is not deleted", call: "DELETE /v2.0/subnets/{s}" },
    {
      says: "a security group is created",
      call: "POST /v2.0/security-groups",
      body: { security_group: { name: "{run}-g" } },
      keep: { g: "security_group.id" },
      undo: "DELETE /v2.0/security-groups/{g}",
    },
    {
      says: "a second default group is rejected",
      call: "POST /v2.0/security-groups",
      body: { security_group: { name: "default" } },
    },
    {
      says: "a security group rule is created",
      call: "POST /v2.0/security-group-rules",
      body: {
        security_group_rule: {
          security_group_id: "{g}",
          direction: "ingress",
          protocol: "tcp",
          port_range_min: 80,
          port_range_max: 81,
          remote_ip_prefix: "10.0.0.0/8",
        },
      },
      keep: { r: "security_group_rule.id" },
      exact: ["security_group_rule.ethertype"],
    },
    {
      says: "a duplicate security group rule is rejected",
      call: "POST /v2.0/security-group-rules",
      body: {
        security_group_rule: {
          security_group_id: "{g}",
          direction: "ingress",
          protocol: "tcp",
          port_range_min: 80,
          port_range_max: 81,
          remote_ip_prefix: "10.0.0.0/8",
        },
      },
    },
    {
      says: "a reversed port range is rejected",
      call: "POST /v2.0/security-group-rules",
      body: {
        security_group_rule: {
          security_group_id: "{g}",
          direction: "ingress",
          protocol: "tcp",
          port_range_min: 9,
          port_range_max: 8,
        },
      },
    },
    {
      says: "a port range without a protocol is rejected",
      call: "POST /v2.0/security-group-rules",
      body: {
        security_group_rule: { security_group_id: "{g}", direction: "ingress", port_range_min: 9, port_range_max: 9 },
      },
    },
    {
      says: "an unknown protocol of a rule is rejected",
      call: "POST /v2.0/security-group-rules",
      body: { security_group_rule: { security_group_id: "{g}", direction: "ingress", protocol: "wrong" } },
    },
    {
      says: "an unknown direction of a rule is rejected",
      call: "POST /v2.0/security-group-rules",
      body: { security_group_rule: { security_group_id: "{g}", direction: "wrong" } },
    },
    {
      says: "a rule of a missing security group is rejected",
      call: "POST /v2.0/security-group-rules",
      body: { security_group_rule: { security_group_id: "{nothing}", direction: "ingress" } },
    },
    {
      says: "a rule with a remote group and a remote prefix is rejected",
      call: "POST /v2.0/security-group-rules",
      body: {
        security_group_rule: {
          security_group_id: "{g}",
          direction: "ingress",
          remote_ip_prefix: "10.0.0.0/8",
          remote_group_id: "{g}",
        },
      },
    },
    {
      says: "a rule with a prefix of the other IP version is rejected",
      call: "POST /v2.0/security-group-rules",
      body: {
        security_group_rule: {
          security_group_id: "{g}",
          direction: "ingress",
          ethertype: "IPv6",
          remote_ip_prefix: "10.0.0.0/8",
        },
      },
    },
    { says: "a security group rule is shown", call: "GET /v2.0/security-group-rules/{r}" },
    { says: "a security group rule is deleted", call: "DELETE /v2.0/security-group-rules/{r}" },
    { says: "a deleted security group rule is not deleted again", call: "DELETE /v2.0/security-group-rules/{r}" },
  ],
};
