import type { RawGroup } from "../case.ts";

const as = "admin";
const rules = "/v2.0/qos/policies/{q}/dscp_marking_rules";

export const policyGroup: RawGroup = {
  name: "policies of quality and of sharing",
  service: "network",
  cases: [
    {
      says: "a policy of quality",
      call: "POST /v2.0/qos/policies",
      body: { policy: { name: "{run}-q" } },
      as,
      keep: { q: "policy.id" },
      undo: "DELETE /v2.0/qos/policies/{q}",
    },
    {
      says: "is given a rule",
      call: `POST ${rules}`,
      body: { dscp_marking_rule: { dscp_mark: 16 } },
      as,
      keep: { r: "dscp_marking_rule.id" },
      exact: ["dscp_marking_rule.dscp_mark"],
    },
    {
      says: "the rule is changed",
      call: `PUT ${rules}/{r}`,
      body: { dscp_marking_rule: { dscp_mark: 32 } },
      as,
      exact: ["dscp_marking_rule.dscp_mark"],
    },
    { says: "the rules", call: `GET ${rules}`, as },
    { says: "the rule", call: `GET ${rules}/{r}`, as },
    { says: "the policy with its rule", call: "GET /v2.0/qos/policies/{q}", as, exact: ["policy.rules.0.type"] },
    { says: "is given tags", call: "PUT /v2.0/policies/{q}/tags", body: { tags: ["b"] }, as, exact: ["tags"] },
    { says: "has the tags", call: "GET /v2.0/qos/policies/{q}", as, exact: ["policy.tags"] },
    {
      says: "a pool of subnets, which a member says is not shared",
      call: "POST /v2.0/subnetpools",
      body: { subnetpool: { name: "{run}-p", prefixes: ["10.9.0.0/16"], shared: false } },
      // The real service returns lengths of prefixes as strings until the pool is updated.
      statusOnly: true,
      keep: { p: "subnetpool.id" },
      undo: "DELETE /v2.0/subnetpools/{p}",
    },
    {
      says: "a pool of subnets, which a member shares",
      call: "POST /v2.0/subnetpools",
      body: { subnetpool: { name: "{run}-x", prefixes: ["10.9.0.0/16"], shared: true } },
    },
    {
      says: "a scope of addresses, which a member says is not shared",
      call: "POST /v2.0/address-scopes",
      body: { address_scope: { name: "{run}-a", ip_version: 4, shared: false } },
      exact: ["address_scope.shared"],
    },
    {
      says: "a network, which a member says is not shared",
      call: "POST /v2.0/networks",
      body: { network: { name: "{run}-n", shared: false, "router:external": false } },
      exact: ["network.shared"],
    },
    {
      says: "a security group",
      call: "POST /v2.0/security-groups",
      body: { security_group: { name: "{run}-g" } },
      keep: { g: "security_group.id" },
      undo: "DELETE /v2.0/security-groups/{g}",
    },
    { says: "a security group is shown with the fields of its creation", call: "GET /v2.0/security-groups/{g}" },
  ],
};

const bound = "/v2.0/flavors/{f}/service_profiles";

export const flavorGroup: RawGroup = {
  name: "flavors of services",
  service: "network",
  cases: [
    {
      says: "a flavor",
      call: "POST /v2.0/flavors",
      body: { flavor: { name: "{run}-f", service_type: "L3_ROUTER_NAT" } },
      as,
      keep: { f: "flavor.id" },
      exact: ["flavor.enabled", "flavor.service_profiles"],
      undo: "DELETE /v2.0/flavors/{f}",
    },
    {
      says: "a profile",
      call: "POST /v2.0/service_profiles",
      body: { service_profile: { description: "d", metainfo: "m" } },
      as,
      keep: { s: "service_profile.id" },
      undo: "DELETE /v2.0/service_profiles/{s}",
    },
    { says: "a flavor of a member", call: "POST /v2.0/flavors", body: { flavor: { service_type: "L3_ROUTER_NAT" } } },
    {
      says: "a profile of a member",
      call: "POST /v2.0/service_profiles",
      body: { service_profile: { metainfo: "m" } },
    },
    { says: "of no service", call: "POST /v2.0/flavors", body: { flavor: { service_type: "WRONG" } }, as },
    { says: "without a service", call: "POST /v2.0/flavors", body: { flavor: { name: "x" } }, as },
    { says: "a profile of nothing", call: "POST /v2.0/service_profiles", body: { service_profile: {} }, as },
    { says: "is bound", call: `POST ${bound}`, body: { service_profile: { id: "{s}" } }, as },
    { says: "is bound twice", call: `POST ${bound}`, body: { service_profile: { id: "{s}" } }, as },
    { says: "is shown to a member", call: "GET /v2.0/flavors/{f}", exact: ["flavor.name"] },
    { says: "is found by its name", call: "GET /v2.0/flavors?name={run}-f", exact: ["flavors.0.name"] },
    { says: "a profile is hidden from a member", call: "GET /v2.0/service_profiles/{s}" },
    { says: "a bound profile is deleted", call: "DELETE /v2.0/service_profiles/{s}", as },
    { says: "is unbound", call: `DELETE ${bound}/{s}`, as },
    { says: "is unbound twice", call: `DELETE ${bound}/{s}`, as },
    {
      says: "is renamed",
      call: "PUT /v2.0/flavors/{f}",
      body: { flavor: { name: "{run}-e" } },
      as,
      exact: ["flavor.name"],
    },
    { says: "a profile that is not there", call: "GET /v2.0/service_profiles/{nothing}", as },
    { says: "a flavor that is not there", call: "GET /v2.0/flavors/{nothing}", as },
  ],
};
