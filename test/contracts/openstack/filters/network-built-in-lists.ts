import type { RawCase } from "../case.ts";
import type { FilteredList } from "./list.ts";
import { as, external, made, network, neutron, subnet } from "./made.ts";

/** Lists of Neutron whose objects the cloud has of its own, and of objects that belong to another. */

const found = (path: string, id: string): RawCase => ({
  says: `one of ${path}`,
  call: `GET /v2.0/${path}`,
  as: "admin",
  keep: { id },
});

const policy = made({ path: "/v2.0/qos/policies", one: "policy", body: { name: "{run}-q" }, keep: "policy" });
const qosRules: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  bandwidth_limit_rule: { max_kbps: 4711, max_burst_kbps: 4712, direction: "ingress" },
  dscp_marking_rule: { dscp_mark: 16 },
  minimum_bandwidth_rule: { min_kbps: 4711, direction: "ingress" },
  packet_rate_limit_rule: { max_kpps: 4711, max_burst_kpps: 4712, direction: "ingress" },
  minimum_packet_rate_rule: { min_kpps: 4711, direction: "ingress" },
};

const router = made({
  path: "/v2.0/routers",
  one: "router",
  body: { name: "{run}-r", external_gateway_info: { network_id: "{public}" } },
  keep: "router",
});
const inside: RawCase = {
  says: "an interface",
  call: "PUT /v2.0/routers/{router}/add_router_interface",
  as: "admin",
  body: { subnet_id: "{sub}" },
  undo: "PUT /v2.0/routers/{router}/remove_router_interface",
  undoBody: { subnet_id: "{sub}" },
};

export const networkBuiltInLists: readonly FilteredList[] = [
  neutron("agents", "agents", [found("agents", "agents.0.id")]),
  {
    ...neutron("network-ip-availabilities", "network_ip_availabilities", [as(network), subnet]),
    idField: "network_id",
  },
  { ...neutron("qos/rule-types", "rule_types", [found("qos/rule-types", "rule_types.0.type")]), idField: "type" },
  neutron("service_profiles", "service_profiles", [
    made({
      path: "/v2.0/service_profiles",
      one: "service_profile",
      body: { description: "{run}", metainfo: "{run}", enabled: true },
    }),
  ]),
  ...Object.entries(qosRules).map(([one, body]) =>
    neutron(`qos/policies/{policy}/${one}s`, `${one}s`, [
      policy,
      made({ path: `/v2.0/qos/policies/{policy}/${one}s`, one, body }),
    ]),
  ),
  neutron("floatingips/{fip}/port_forwardings", "port_forwardings", [
    external,
    network,
    subnet,
    router,
    inside,
    made({ path: "/v2.0/ports", one: "port", body: { network_id: "{net}" }, keep: "port" }),
    { says: "its address", call: "GET /v2.0/ports/{port}", as: "admin", keep: { ip: "port.fixed_ips.0.ip_address" } },
    made({ path: "/v2.0/floatingips", one: "floatingip", body: { floating_network_id: "{public}" }, keep: "fip" }),
    made({
      path: "/v2.0/floatingips/{fip}/port_forwardings",
      one: "port_forwarding",
      body: {
        internal_port_id: "{port}",
        internal_ip_address: "{ip}",
        internal_port: 80,
        external_port: 8080,
        protocol: "tcp",
        description: "{run}",
      },
    }),
  ]),
  {
    ...neutron("quotas", "quotas", [
      {
        says: "a quota",
        call: "PUT /v2.0/quotas/{altProject}",
        as: "admin",
        body: { quota: { network: 77 } },
        undo: "DELETE /v2.0/quotas/{altProject}",
      },
      found("quotas", "quotas.0.project_id"),
    ]),
    idField: "project_id",
  },
];
