import type { RawGroup } from "../case.ts";

export const portGroup: RawGroup = {
  name: "ports and groups",
  service: "network",
  cases: [
    {
      says: "a network",
      call: "POST /v2.0/networks",
      body: { network: { name: "{run}-n" } },
      keep: { n: "network.id" },
      undo: "DELETE /v2.0/networks/{n}",
    },
    {
      says: "a subnet",
      call: "POST /v2.0/subnets",
      body: { subnet: { network_id: "{n}", ip_version: 4, cidr: "10.99.0.0/29", name: "{run}-s" } },
      keep: { s: "subnet.id" },
      undo: "DELETE /v2.0/subnets/{s}",
    },
    {
      says: "a port",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", name: "{run}-p", fixed_ips: [{ ip_address: "10.99.0.3" }] } },
      keep: { p: "port.id", mac: "port.mac_address" },
      exact: ["port.status", "port.device_owner", "port.port_security_enabled"],
      undo: "DELETE /v2.0/ports/{p}",
    },
    { says: "is shown to an administrator", call: "GET /v2.0/ports/{p}", as: "admin" },
    {
      says: "an address that is taken",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", fixed_ips: [{ ip_address: "10.99.0.3" }] } },
    },
    {
      says: "an address outside",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", fixed_ips: [{ ip_address: "10.98.0.3" }] } },
    },
    {
      says: "a mac that is taken",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", mac_address: "{mac}" } },
      as: "admin",
      statusOnly: true,
    },
    {
      says: "a mac that is none",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", mac_address: "wrong" } },
    },
    { says: "a port of no network", call: "POST /v2.0/ports", body: { port: { network_id: "{nothing}" } } },
    { says: "a port without a network", call: "POST /v2.0/ports", body: { port: { name: "x" } } },
    {
      says: "a subnet that is not there",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", fixed_ips: [{ subnet_id: "{nothing}" }] } },
    },
    {
      says: "a group that is not there",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", security_groups: ["{nothing}"] } },
    },
    {
      says: "bound by a member",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}", "binding:host_id": "compute-1" } },
    },
    {
      says: "found by its address",
      call: "GET /v2.0/ports?fixed_ips=ip_address%3D10.99.0.3&network_id={n}&fields=name",
      exact: ["ports"],
    },
    { says: "pairs without security", call: "PUT /v2.0/ports/{p}", body: { port: { port_security_enabled: false } } },
    {
      says: "pairs",
      call: "PUT /v2.0/ports/{p}",
      body: { port: { allowed_address_pairs: [{ ip_address: "10.0.0.0/24" }] } },
    },
    {
      says: "two ports at once",
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
    { says: "one of the two goes", call: "DELETE /v2.0/ports/{b}" },
    {
      says: "a page of one",
      call: "GET /v2.0/ports?network_id={n}&limit=1&sort_key=name&sort_dir=asc&name={run}-p",
      statusOnly: true,
    },
    { says: "a network in use is deleted", call: "DELETE /v2.0/networks/{n}" },
    { says: "a subnet in use is deleted", call: "DELETE /v2.0/subnets/{s}" },
    {
      says: "a security group",
      call: "POST /v2.0/security-groups",
      body: { security_group: { name: "{run}-g" } },
      keep: { g: "security_group.id" },
      undo: "DELETE /v2.0/security-groups/{g}",
    },
    {
      says: "a second default group",
      call: "POST /v2.0/security-groups",
      body: { security_group: { name: "default" } },
    },
    {
      says: "a rule",
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
      says: "the same rule",
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
      says: "a rule of ports the wrong way round",
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
      says: "a rule of ports without a protocol",
      call: "POST /v2.0/security-group-rules",
      body: {
        security_group_rule: { security_group_id: "{g}", direction: "ingress", port_range_min: 9, port_range_max: 9 },
      },
    },
    {
      says: "a rule of a protocol that is none",
      call: "POST /v2.0/security-group-rules",
      body: { security_group_rule: { security_group_id: "{g}", direction: "ingress", protocol: "wrong" } },
    },
    {
      says: "a rule of a direction that is none",
      call: "POST /v2.0/security-group-rules",
      body: { security_group_rule: { security_group_id: "{g}", direction: "wrong" } },
    },
    {
      says: "a rule of no group",
      call: "POST /v2.0/security-group-rules",
      body: { security_group_rule: { security_group_id: "{nothing}", direction: "ingress" } },
    },
    {
      says: "a rule of both remotes",
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
      says: "a rule of the wrong family",
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
    { says: "the rule is shown", call: "GET /v2.0/security-group-rules/{r}" },
    { says: "the rule is deleted", call: "DELETE /v2.0/security-group-rules/{r}" },
    { says: "the rule is gone", call: "DELETE /v2.0/security-group-rules/{r}" },
  ],
};
