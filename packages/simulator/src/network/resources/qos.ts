import type { Caller } from "../../kernel/interface.ts";
import { isObject, type JsonObject } from "../../kernel/json.ts";
import { bool, common, readCreate, readUpdate } from "../kit/attributes.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import {
  checkedBody,
  seen,
  type Collection,
  type NetworkApp,
  type NetworkEnv,
  type NetworkRequest,
} from "../kit/collection.ts";
import { badRequest, conflict, forbidden, neutronError } from "../errors.ts";
import { filtered, filtersOf, refuseFilters, type ListSpec } from "../listing.ts";
import { driverParameters, qosTypes } from "../rules/qos-types.ts";
import { dropPolicies, isOpen, opened, setOpen } from "./rbac.ts";
import { born, defined, touched, type NetworkState, type QosPolicy, type QosRule } from "../model.ts";

const attributes = {
  ...common,
  shared: { read: bool },
  is_default: { read: bool },
} as const;
type Attributes = typeof attributes;

const policyNotFound = (id: string) => neutronError(404, "QosPolicyNotFound", `QoS policy ${id} could not be found.`);

/** QoS policies. Only administrators make them; projects use those that are theirs or shared. */
export function qosCollection(state: NetworkState): Collection<QosPolicy, Attributes> {
  return {
    singular: "policy",
    plural: "policies",
    path: "qos/policies",
    attributes,
    table: state.qosPolicies,
    indexes: ["name", "project_id"],
    filters: [],
    // The real service takes the filter and ignores it.
    special: { is_default: () => true },
    notFound: policyNotFound,
    sees: (caller, row) => sees(state, caller, row),
    owns: (caller) => caller.isAdmin,
    view: (row) => view(state, row),
    create: (caller, projectId, input) => {
      if (!caller.isAdmin) throw forbidden("rule:create_policy");
      const row = state.qosPolicies.insert({
        ...born(state.kernel, projectId, input),
        is_default: input.is_default ?? false,
      });
      setOpen(state, row, { type: "qos_policy", open: input.shared ?? false });
      return row;
    },
    update: (_, row, change) => {
      const { shared, project_id: _p, ...rest } = defined(change);
      if (shared !== undefined) setOpen(state, row, { type: "qos_policy", open: shared });
      return state.qosPolicies.update(row.id, { ...rest, ...touched(state.kernel, row) });
    },
    remove: (_, row) => remove(state, row),
  };
}

function sees(state: NetworkState, caller: Caller, row: QosPolicy): boolean {
  return caller.isAdmin || row.project_id === caller.projectId || opened(state, caller, row.id);
}

function view(state: NetworkState, row: QosPolicy): JsonObject {
  const rules = state.qosRules.by("policy_id", row.id).map((rule) => ({
    ...ruleView(rule),
    qos_policy_id: row.id,
    type: rule.type,
  }));
  return { ...row, tenant_id: row.project_id, shared: isOpen(state, row.id), rules };
}

const ruleView = (rule: QosRule): JsonObject => ({ id: rule.id, ...rule.values });

function remove(state: NetworkState, row: QosPolicy): void {
  const users = { network: state.networks, port: state.ports, floatingip: state.floatingIps };
  for (const [kind, table] of Object.entries(users)) {
    const user = table.all().find((object) => object.qos_policy_id === row.id);
    if (user) throw conflict("QosPolicyInUse", `QoS Policy ${row.id} is used by ${kind} ${user.id}.`);
  }
  for (const rule of state.qosRules.by("policy_id", row.id)) state.qosRules.remove(rule.id);
  dropPolicies(state, row.id);
  state.qosPolicies.remove(row.id);
}

/** Throws unless the caller may use the policy on this port or network; null and undefined mean none. */
export function checkQos(
  state: NetworkState,
  caller: Caller,
  { policy, kind, id }: { policy: string | null | undefined; kind: "port" | "network"; id: string },
): void {
  if (policy === null || policy === undefined) return;
  const row = state.qosPolicies.get(policy);
  if (!row || !sees(state, caller, row)) throw policyNotFound(policy);
  const strange = state.qosRules.by("policy_id", policy).find((rule) => !qosTypes[rule.type]?.supported);
  if (!strange) return;
  const type = kind === "port" ? "QosRuleNotSupported" : "QosRuleNotSupportedByNetwork";
  throw conflict(type, `Rule ${strange.type} is not supported by ${kind} ${id}`);
}

/** Rules of policies, and the documents of what rules there can be. */
export function mountQosRules(app: NetworkApp, state: NetworkState, policies: ReturnType<typeof qosCollection>): void {
  for (const type of Object.keys(qosTypes)) mountType(app, state, { type, policies });
  app.get("/v2.0/qos/rule-types", (c) => {
    refuseFilters(new URL(c.req.url).searchParams, ["all_supported", "all_rules"]);
    const known = Object.keys(qosTypes).filter((type) => qosTypes[type]?.supported);
    return c.json({ rule_types: known.map((type) => ({ type })) });
  });
  app.get("/v2.0/qos/rule-types/:type", (c) => {
    if (!c.var.caller.isAdmin) throw forbidden("rule:get_rule_type");
    const type = c.req.param("type");
    const parameters = driverParameters[type];
    if (!parameters) {
      const why = "Request Failed: internal server error while processing your request.";
      throw neutronError(500, "HTTPInternalServerError", why);
    }
    return c.json({ rule_type: { type, drivers: [{ name: "OVNQosDriver", supported_parameters: parameters }] } });
  });
}

interface Kind {
  readonly type: string;
  readonly policies: ReturnType<typeof qosCollection>;
}

function mountType(app: NetworkApp, state: NetworkState, { type, policies }: Kind): void {
  const singular = `${type}_rule`;
  const path = `/v2.0/qos/policies/:policy/${type}_rules`;
  const kind = { singular, attributes: qosTypes[type]?.attributes ?? {} };
  const policyOf = (c: NetworkRequest) => seen(policies, c.var.caller, c.req.param("policy") ?? "");
  const mine = (policy: QosPolicy) => state.qosRules.by("policy_id", policy.id).filter((rule) => rule.type === type);
  const ruleOf = (c: NetworkRequest) => {
    const [policy, id] = [policyOf(c), c.req.param("id") ?? ""];
    const rule = mine(policy).find((row) => row.id === id);
    if (rule) return rule;
    const why = `QoS rule ${id} for policy ${policy.id} could not be found.`;
    throw neutronError(404, "QosRuleNotFound", why);
  };
  const administer = (c: NetworkRequest, verb: string) => {
    if (!c.var.caller.isAdmin) throw forbidden(`rule:${verb}_policy_${singular}`);
  };
  const spec: ListSpec<QosRule> = {
    plural: `${singular}s`,
    // The direction of bandwidth limits is an extension's, whose attributes are no filters.
    filterable: new Set([
      "id",
      ...Object.keys(kind.attributes).filter((field) => `${type}.${field}` !== "bandwidth_limit.direction"),
    ]),
    shown: ruleView,
    notFound: (id) => neutronError(404, "QosRuleNotFound", `QoS rule ${id} could not be found.`),
  };
  mountResource<NetworkEnv, QosRule>(app, state.kernel, {
    path,
    one: singular,
    many: `${singular}s`,
    readsBodyFirst: true,
    find: ruleOf,
    list(c) {
      const rules = mine(policyOf(c));
      const filters = filtersOf(new URL(c.req.url).searchParams, spec);
      return { rows: filtered(rules, filters, spec) };
    },
    view: (_c, rule) => ruleView(rule),
    givenOf(body, verb, c) {
      const given = wrapped(checkedBody(body), singular);
      return valuesOf((verb === "update" ? readUpdate : readCreate)(kind, given, c.var.caller));
    },
    create(c, values) {
      const policy = policyOf(c);
      administer(c, "create");
      const given = { ...qosTypes[type]?.defaults, ...(values as QosRule["values"]) };
      checkConflict(mine(policy), { type, policy, given });
      return state.qosRules.insert({ id: state.kernel.newId(), policy_id: policy.id, type, values: given });
    },
    update(c, rule, values) {
      administer(c, "update");
      return state.qosRules.update(rule.id, { values: { ...rule.values, ...(values as QosRule["values"]) } });
    },
    remove(c, rule) {
      administer(c, "delete");
      state.qosRules.remove(rule.id);
    },
  });
}

function wrapped(body: JsonObject, singular: string): unknown {
  if (!isObject(body[singular])) throw badRequest(`Unable to find '${singular}' in request body`);
  return body[singular];
}

/** What the attributes of a type have read: words and numbers. */
const valuesOf = (read: object): Readonly<Record<string, string | number>> =>
  Object.fromEntries(
    Object.entries(read).filter(([, value]) => typeof value === "string" || typeof value === "number"),
  );

/** One rule of a type and direction is all that a policy may have. */
function checkConflict(
  mine: readonly QosRule[],
  { type, policy, given }: { type: string; policy: QosPolicy; given: QosRule["values"] },
): void {
  const twin = mine.find((rule) => rule.values["direction"] === given["direction"]);
  if (!twin) return;
  const what = `Rule ${type} conflicts with rule ${twin.id} which already exists in QoS Policy ${policy.id}.`;
  throw conflict("QoSRulesConflict", what);
}
