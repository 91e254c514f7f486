import { fault, notFound } from "../errors.ts";
import { bool, common, given, integer, oneOf, orNull, owner, text, uuid, words, type InputOf } from "../kit/fields.ts";
import { placePolicy } from "../rules/l7-order.ts";
import { checkRuleValues, url } from "../rules/l7-values.ts";
import { checkL7 } from "../rules/providers.ts";
import { born, type BalancerState, type L7Policy, type L7Rule, type Listener, type LoadBalancer } from "../model.ts";
import { found, mountChild, type BalancerApp, type BalancerRequest, type Kind } from "../kit/routes.ts";
import { policyView, ruleView } from "../views.ts";

/** Octavia names them, and no others. */
function code(value: unknown, field: string): number {
  return Number(oneOf("301", "302", "303", "307", "308")(typeof value === "number" ? String(value) : value, field));
}

/** What an L7 policy may be given, also inside a tree of one request. */
export const policyFields = {
  ...common,
  ...owner,
  description: { read: words },
  listener_id: { read: uuid, required: true, put: false },
  action: { read: oneOf("REDIRECT_TO_URL", "REDIRECT_TO_POOL", "REJECT", "REDIRECT_PREFIX"), required: true },
  position: { read: integer(1, 2_147_483_647) },
  redirect_pool_id: { read: orNull(uuid) },
  redirect_url: { read: orNull(url) },
  redirect_prefix: { read: orNull(url) },
  redirect_http_code: { read: orNull(code) },
} as const;

/** What an L7 rule may be given. Rules have no name. */
export const ruleFields = {
  tags: common.tags,
  admin_state_up: common.admin_state_up,
  ...owner,
  type: {
    read: oneOf(
      "COOKIE",
      "FILE_TYPE",
      "HEADER",
      "HOST_NAME",
      "PATH",
      "SSL_CONN_HAS_CERT",
      "SSL_DN_FIELD",
      "SSL_VERIFY_RESULT",
    ),
    required: true,
  },
  compare_type: { read: oneOf("REGEX", "STARTS_WITH", "ENDS_WITH", "CONTAINS", "EQUAL_TO"), required: true },
  key: { read: orNull(text) },
  value: { read: text, required: true },
  invert: { read: bool },
} as const;

/** octavia/common/constants.py: a policy created with its load balancer may have more. */
const MOST_RULES = 50;

/** Routes of L7 policies and their rules. */
export function mountL7(app: BalancerApp, state: BalancerState): void {
  const policies = policyKind(state);
  mountPolicies(app, state, policies);
  mountRules(app, state, policies);
}

function policyKind(state: BalancerState): Kind<L7Policy, typeof policyFields> {
  return {
    singular: "l7policy",
    plural: "l7policies",
    label: "L7 Policy",
    argument: "l7policy_",
    quota: "l7policy",
    fields: policyFields,
    find: (id) => state.policies.get(id),
    used: (projectId) => state.policies.count("project_id", projectId),
    view: (row) => policyView(state, row),
    balancer: (row) => state.loadBalancers.get(state.listeners.get(row.listener_id)?.loadbalancer_id ?? ""),
    parents: (row) => [`listener:${row.listener_id}`],
    update: (row, input) => {
      const { project_id: _p, ...rest } = given(input);
      checkRedirect(state, { ...row, ...rest });
      const { position = row.position, ...other } = rest;
      const changed = state.policies.update(row.id, { ...other, ...forgotten[input.action ?? ""] });
      return position === row.position ? changed : placePolicy(state, changed, position);
    },
  };
}

function mountPolicies(app: BalancerApp, state: BalancerState, kind: Kind<L7Policy, typeof policyFields>): void {
  mountChild(app, state, {
    path: "l7policies",
    kind,
    rows: () => state.policies.all(),
    create(_c, input, lock) {
      const listener = state.listeners.get(input.listener_id ?? "");
      if (!listener) throw notFound("Listener", input.listener_id ?? "");
      const balancer = lock(state.loadBalancers.get(listener.loadbalancer_id), listener.loadbalancer_id);
      checkL7(balancer, "l7policies");
      return makePolicy(state, balancer, { listener, input });
    },
  });
}

function mountRules(app: BalancerApp, state: BalancerState, policies: Kind<L7Policy, typeof policyFields>): void {
  const policyOf = (c: BalancerRequest) => found(policies, c.var.caller, c.req.param("policy") ?? "");
  const kind: Kind<L7Rule, typeof ruleFields> = {
    singular: "rule",
    plural: "rules",
    label: "L7Rule",
    argument: "rule_",
    quota: "l7rule",
    fields: ruleFields,
    find: (id) => state.rules.get(id),
    used: (projectId) => state.rules.count("project_id", projectId),
    view: (row) => ruleView(state, row),
    balancer: (row) => {
      const policy = state.policies.get(row.l7policy_id);
      return policy && policies.balancer(policy);
    },
    parents: (row) => [`l7policy:${row.l7policy_id}`],
    update: (row, input) => {
      const { project_id: _p, ...rest } = given(input);
      checkRuleValues({ ...row, ...rest });
      return state.rules.update(row.id, rest);
    },
  };
  const special = {
    l7policy_id: (row: L7Rule, values: readonly string[]) =>
      values.includes(state.rules.get(row.id)?.l7policy_id ?? ""),
  };
  mountChild(app, state, {
    path: "l7policies/:policy/rules",
    kind,
    rows: (c) => state.rules.by("l7policy_id", policyOf(c).id),
    special,
    create(c, input, lock) {
      const policy = policyOf(c);
      const balancer = lock(policies.balancer(policy), "");
      const made = state.rules.by("l7policy_id", policy.id).length;
      if (made >= MOST_RULES) throw fault(409, `Too many rules on L7 policy ${policy.id}`);
      checkL7(balancer, "l7rules");
      return makeRule(state, balancer, { policy, input });
    },
  });
}

/** Inserts a policy of a listener of a locked load balancer. */
export function makePolicy(
  state: BalancerState,
  balancer: LoadBalancer,
  { listener, input }: { listener: Listener; input: InputOf<typeof policyFields> },
): L7Policy {
  const last = state.policies.by("listener_id", listener.id).length;
  const wanted = {
    action: input.action ?? "REJECT",
    redirect_pool_id: input.redirect_pool_id ?? null,
    redirect_url: input.redirect_url ?? null,
    redirect_prefix: input.redirect_prefix ?? null,
  };
  checkRedirect(state, wanted);
  const redirects = wanted.redirect_url !== null || wanted.redirect_prefix !== null;
  const policy = state.policies.insert({
    ...born(state.kernel, balancer.project_id, input),
    ...wanted,
    description: input.description ?? "",
    listener_id: listener.id,
    position: last + 1,
    redirect_http_code: input.redirect_http_code ?? (redirects ? 302 : null),
  });
  return input.position === undefined ? policy : placePolicy(state, policy, input.position);
}

/** Inserts a rule of a policy of a locked load balancer. */
export function makeRule(
  state: BalancerState,
  balancer: LoadBalancer,
  { policy, input }: { policy: L7Policy; input: InputOf<typeof ruleFields> },
): L7Rule {
  const values = {
    type: input.type ?? "",
    compare_type: input.compare_type ?? "",
    key: input.key ?? null,
    value: input.value ?? "",
  };
  checkRuleValues(values);
  return state.rules.insert({
    ...born(state.kernel, balancer.project_id, input),
    l7policy_id: policy.id,
    ...values,
    invert: input.invert ?? false,
  });
}

/** What a policy no longer has when this becomes its action. */
const forgotten: Readonly<Record<string, Partial<L7Policy>>> = {
  REJECT: { redirect_pool_id: null, redirect_url: null, redirect_prefix: null, redirect_http_code: null },
  REDIRECT_TO_POOL: { redirect_url: null, redirect_prefix: null, redirect_http_code: null },
  REDIRECT_TO_URL: { redirect_pool_id: null, redirect_prefix: null },
  REDIRECT_PREFIX: { redirect_pool_id: null, redirect_url: null },
};

type Redirect = Pick<L7Policy, "action" | "redirect_pool_id" | "redirect_url" | "redirect_prefix">;

function checkRedirect(state: BalancerState, policy: Redirect): void {
  const needs: Readonly<Record<string, keyof Redirect>> = {
    REDIRECT_TO_POOL: "redirect_pool_id",
    REDIRECT_TO_URL: "redirect_url",
    REDIRECT_PREFIX: "redirect_prefix",
  };
  const needed = needs[policy.action];
  if (needed !== undefined && policy[needed] === null) {
    const name = needed === "redirect_pool_id" ? "redirect_pool_id or redirect_pool" : needed;
    throw fault(400, `Invalid L7 Policy arguments: ${name} must not be None`);
  }
  const pool = policy.redirect_pool_id;
  if (pool !== null && !state.pools.get(pool)) throw notFound("Pool", pool);
}
