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
      // The real service tells lengths of prefixes as words until the pool is changed.
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
    { says: "the security group tells as much when it is asked for", call: "GET /v2.0/security-groups/{g}" },
  ],
};
