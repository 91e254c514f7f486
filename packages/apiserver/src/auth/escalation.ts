import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, record, records, text, texts, type Json } from "../json/json.ts";
import type { UserRules, WriteContext } from "../contract/resource.ts";
import { forbidden, notFound, type GroupResource } from "../errors/status.ts";
import { aggregated } from "./rbac.ts";
import { missingRules } from "./rule-sets.ts";

const GROUP = "rbac.authorization.k8s.io";
const EVERYTHING: readonly Json[] = [
  { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
  { nonResourceURLs: ["*"], verbs: ["*"] },
];

/**
 * A user grants no more rights than they have: who writes a role needs all it allows (or the verb "escalate" on it),
 * who writes a binding needs all its role allows (or the verb "bind" on that role). Throws 403, and 404 for a binding
 * to a role that does not exist: a role that is created later must not give its rights by a binding that was never
 * checked. Source: kubernetes.io "Using RBAC Authorization", privilege escalation prevention.
 */
export function forbidEscalation(object: KubeObject, old: KubeObject | undefined, context: WriteContext): void {
  const { user, cluster, pathName } = context;
  if (user.groups.includes("system:masters")) return;
  const namespace = object.metadata.namespace ?? "";
  const isBinding = object.kind.endsWith("Binding");
  const role = isBinding ? referenceOf(object) : { plural: pluralOf(object.kind), name: pathName };
  const verb = isBinding ? "bind" : "escalate";
  if (cluster.access.allows({ user, verb, namespace, group: GROUP, version: "*", subresource: "", ...role })) return;
  const owned = cluster.access.rulesFor(user, namespace);
  const written = { group: GROUP, plural: `${object.kind.toLowerCase()}s` };
  const given = isBinding ? boundRules(role, { namespace, written, context }) : rulesOf(object);
  const missing = missingRules(owned.rules, given);
  if (missing.length > 0) {
    const why = `${who(context)} is attempting to grant RBAC permissions not currently held:\n${rulesShown(missing)}`;
    throw forbidden(written, object.metadata.name, why + errorsShown(owned, written));
  }
  // What a role gathers from others may be anything.
  const gathers = [object, old].some((o) => records(at(o, "aggregationRule", "clusterRoleSelectors")).length > 0);
  if (gathers && missingRules(owned.rules, EVERYTHING).length > 0) {
    throw forbidden(written, object.metadata.name, "must have cluster-admin privileges to use the aggregationRule");
  }
}

interface RoleReference {
  readonly plural: string;
  readonly name: string;
}

function pluralOf(kind: string): string {
  return kind === "Role" ? "roles" : "clusterroles";
}

function referenceOf(binding: KubeObject): RoleReference {
  const { kind, name } = record(fields(binding)["roleRef"]);
  return { plural: pluralOf(text(kind)), name: text(name) };
}

/** Throws 404, which names the written resource, not the role's: so does kube-apiserver. */
function boundRules(
  { plural, name }: RoleReference,
  { namespace, written, context }: { namespace: string; written: GroupResource; context: WriteContext },
): readonly Json[] {
  const { store, name: cluster } = context.cluster;
  const resource = `${GROUP}/${plural}`;
  const stored = store.get({ cluster, resource, namespace: plural === "roles" ? namespace : "", name });
  if (!stored) throw notFound(written, name);
  return rulesOf(stored.object);
}

function rulesOf(object: KubeObject): readonly Json[] {
  return records(fields(object)["rules"]);
}

function who({ user }: WriteContext): string {
  return `user ${JSON.stringify(user.name)} (groups=${listShown(user.groups)})`;
}

function errorsShown({ unresolved }: UserRules, { plural }: GroupResource): string {
  if (unresolved.length === 0) return "";
  const messages = unresolved.map(({ name }) => `${plural}.${GROUP} ${JSON.stringify(name)} not found`);
  return `; resolution errors: [${aggregated(messages)}]`;
}

function rulesShown(rules: readonly Json[]): string {
  return [...new Set(rules.map(ruleShown))].sort().join("\n");
}

const SHOWN = [
  ["apiGroups", "APIGroups"],
  ["resources", "Resources"],
  ["nonResourceURLs", "NonResourceURLs"],
  ["resourceNames", "ResourceNames"],
  ["verbs", "Verbs"],
] as const;

/** `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}` */
function ruleShown(rule: Json): string {
  const parts = SHOWN.map(([name, label]) => [label, texts(rule[name])] as const).filter(([, all]) => all.length > 0);
  return `{${parts.map(([label, all]) => `${label}:${listShown(all)}`).join(", ")}}`;
}

/** A list of strings as Go's %q prints it. */
function listShown(all: readonly string[]): string {
  return `[${all.map((one) => JSON.stringify(one)).join(" ")}]`;
}
