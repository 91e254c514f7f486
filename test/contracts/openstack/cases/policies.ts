import type { RawGroup } from "../case.ts";

const as = "admin";
const rules = "/v2.0/qos/policies/{q}/dscp_marking_rules";

export const policyGroup: RawGroup = {
  name: "QoS policies and sharing",
  service: "network",
  cases: [
    {
      says: "a QoS policy is created",
      call: "POST /v2.0/qos/policies",
      body: { policy: { name: "{run}-q" } },
      as,
      keep: { q: "policy.id" },
      undo: "DELETE /v2.0/qos/policies/{q}",
    },
    {
      says: "a DSCP marking rule is created",
      call: `POST ${rules}`,
      body: { dscp_marking_rule: { dscp_mark: 16 } },
      as,
      keep: { r: "dscp_marking_rule.id" },
      exact: ["dscp_marking_rule.dscp_mark"],
    },
    {
      says: "a DSCP marking rule is updated",
      call: `PUT ${rules}/{r}`,
      body: { dscp_marking_rule: { dscp_mark: 32 } },
      as,
      exact: ["dscp_marking_rule.dscp_mark"],
    },
    { says: "the DSCP marking rules of a QoS policy are listed", call: `GET ${rules}`, as },
    { says: "a DSCP marking rule is shown", call: `GET ${rules}/{r}`, as },
    {
      says: "a QoS policy is shown with its rule",
      call: "GET /v2.0/qos/policies/{q}",
      as,
      exact: ["policy.rules.0.type"],
    },
    {
      says: "the tags of a QoS policy are replaced",
      call: "PUT /v2.0/policies/{q}/tags",
      body: { tags: ["b"] },
      as,
      exact: ["tags"],
    },
    { says: "a QoS policy is shown with its tags", call: "GET /v2.0/qos/policies/{q}", as, exact: ["policy.tags"] },
    {
      says: "a member creates a subnet pool with shared set to false",
      call: "POST /v2.0/subnetpools",
      body: { subnetpool: { name: "{run}-p", prefixes: ["10.9.0.0/16"], shared: false } },
      // The real service returns lengths of prefixes as strings until the pool is updated.
      statusOnly: true,
      keep: { p: "subnetpool.id" },
      undo: "DELETE /v2.0/subnetpools/{p}",
    },
    {
      says: "a member creates no shared subnet pool",
      call: "POST /v2.0/subnetpools",
      body: { subnetpool: { name: "{run}-x", prefixes: ["10.9.0.0/16"], shared: true } },
    },
    {
      says: "a member creates an address scope with shared set to false",
      call: "POST /v2.0/address-scopes",
      body: { address_scope: { name: "{run}-a", ip_version: 4, shared: false } },
      exact: ["address_scope.shared"],
    },
    {
      says: "a member creates a network with shared set to false",
      call: "POST /v2.0/networks",
      body: { network: { name: "{run}-n", shared: false, "router:external": false } },
      exact: ["network.shared"],
    },
    {
      says: "a security group is created",
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
  name: "service flavors",
  service: "network",
  cases: [
    {
      says: "a service flavor is created",
      call: "POST /v2.0/flavors",
      body: { flavor: { name: "{run}-f", service_type: "L3_ROUTER_NAT" } },
      as,
      keep: { f: "flavor.id" },
      exact: ["flavor.enabled", "flavor.service_profiles"],
      undo: "DELETE /v2.0/flavors/{f}",
    },
    {
      says: "a service profile is created",
      call: "POST /v2.0/service_profiles",
      body: { service_profile: { description: "d", metainfo: "m" } },
      as,
      keep: { s: "service_profile.id" },
      undo: "DELETE /v2.0/service_profiles/{s}",
    },
    {
      says: "a member creates no service flavor",
      call: "POST /v2.0/flavors",
      body: { flavor: { service_type: "L3_ROUTER_NAT" } },
    },
    {
      says: "a member creates no service profile",
      call: "POST /v2.0/service_profiles",
      body: { service_profile: { metainfo: "m" } },
    },
    {
      says: "a flavor of an unknown service type is rejected",
      call: "POST /v2.0/flavors",
      body: { flavor: { service_type: "WRONG" } },
      as,
    },
    {
      says: "a flavor without a service type is rejected",
      call: "POST /v2.0/flavors",
      body: { flavor: { name: "x" } },
      as,
    },
    {
      says: "an empty service profile is rejected",
      call: "POST /v2.0/service_profiles",
      body: { service_profile: {} },
      as,
    },
    {
      says: "a service profile is bound to a flavor",
      call: `POST ${bound}`,
      body: { service_profile: { id: "{s}" } },
      as,
    },
    {
      says: "a service profile is not bound twice",
      call: `POST ${bound}`,
      body: { service_profile: { id: "{s}" } },
      as,
    },
    { says: "a service flavor is shown to a member", call: "GET /v2.0/flavors/{f}", exact: ["flavor.name"] },
    {
      says: "a service flavor is found by its name",
      call: "GET /v2.0/flavors?name={run}-f",
      exact: ["flavors.0.name"],
    },
    { says: "a service profile is not shown to a member", call: "GET /v2.0/service_profiles/{s}" },
    { says: "a bound service profile is not deleted", call: "DELETE /v2.0/service_profiles/{s}", as },
    { says: "a service profile is unbound from a flavor", call: `DELETE ${bound}/{s}`, as },
    { says: "a service profile is not unbound twice", call: `DELETE ${bound}/{s}`, as },
    {
      says: "a service flavor is renamed",
      call: "PUT /v2.0/flavors/{f}",
      body: { flavor: { name: "{run}-e" } },
      as,
      exact: ["flavor.name"],
    },
    { says: "a missing service profile is not found", call: "GET /v2.0/service_profiles/{nothing}", as },
    { says: "a missing service flavor is not found", call: "GET /v2.0/flavors/{nothing}", as },
  ],
};
