import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, record, records, text, texts, type Json } from "../json.ts";
import type { WriteContext } from "../kinds/resource.ts";
import { forbidden } from "../server/status.ts";
import type { Attributes } from "./attributes.ts";
import { covers } from "./rbac.ts";

const GROUP = "rbac.authorization.k8s.io";
const EVERYTHING: readonly Json[] = [
  { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
  { nonResourceURLs: ["*"], verbs: ["*"] },
];

/**
 * Nobody gives away more than they have: who writes a role needs all it allows (or the verb "escalate" on it), who writes
 * a binding needs all its role allows (or the verb "bind" on that role). Throws 403.
 * Source: kubernetes.io "Using RBAC Authorization", privilege escalation prevention.
 */
export function forbidEscalation(object: KubeObject, old: KubeObject | undefined, context: WriteContext): void {
  const { user, cluster } = context;
  if (user.groups.includes("system:masters")) return;
  const namespace = object.metadata.namespace ?? "";
  const isBinding = object.kind.endsWith("Binding");
  const granted = isBinding
    ? roleOf(object, context)
    : { kind: object.kind, name: object.metadata.name, rules: rulesOf(object) };
  const plural = granted.kind === "Role" ? "roles" : "clusterroles";
  const asked: Attributes = {
    user,
    verb: isBinding ? "bind" : "escalate",
    namespace,
    group: GROUP,
    version: "v1",
    plural,
    subresource: "",
    name: granted.name,
  };
  if (cluster.access.allows(asked)) return;
  const owned = cluster.access.rulesFor(user, namespace);
  const isOwned = (rule: Json): boolean => atoms(rule, asked).every((atom) => owned.some((r) => covers(r, atom)));
  const missing = granted.rules.filter((rule) => !isOwned(rule));
  // What a role gathers from others may be anything.
  const gathers = [object, old].some((o) => records(at(o, "aggregationRule", "clusterRoleSelectors")).length > 0);
  if (missing.length === 0 && gathers && !EVERYTHING.every(isOwned)) {
    const why = "must have cluster-admin privileges to use the aggregationRule";
    throw forbidden({ group: GROUP, plural: "clusterroles" }, object.metadata.name, why);
  }
  if (missing.length === 0) return;
  const who = `user ${JSON.stringify(user.name)} (groups=[${user.groups.map((g) => JSON.stringify(g)).join(" ")}])`;
  const rules = missing.map(ruleShown).join("\n");
  const written = { group: GROUP, plural: `${object.kind.toLowerCase()}s` };
  throw forbidden(
    written,
    object.metadata.name,
    `${who} is attempting to grant RBAC permissions not currently held:\n${rules}`,
  );
}

const SHOWN = [
  ["apiGroups", "APIGroups"],
  ["resources", "Resources"],
  ["resourceNames", "ResourceNames"],
  ["nonResourceURLs", "NonResourceURLs"],
  ["verbs", "Verbs"],
] as const;

/** `{APIGroups:["*"], Resources:["*"], Verbs:["*"]}` */
function ruleShown(rule: Json): string {
  const parts = SHOWN.filter(([name]) => texts(rule[name]).length > 0);
  return `{${parts.map(([name, label]) => `${label}:${JSON.stringify(rule[name])}`).join(", ")}}`;
}

function rulesOf(object: KubeObject): readonly Json[] {
  return records(fields(object)["rules"]);
}

function roleOf(
  binding: KubeObject,
  { cluster }: WriteContext,
): { kind: string; name: string; rules: readonly Json[] } {
  const role = record(fields(binding)["roleRef"]);
  const kind = text(role["kind"]);
  const name = text(role["name"]);
  const key = {
    cluster: cluster.name,
    resource: `${GROUP}/${kind === "Role" ? "roles" : "clusterroles"}`,
    namespace: kind === "Role" ? (binding.metadata.namespace ?? "") : "",
    name,
  };
  const stored = cluster.store.get(key);
  return { kind, name, rules: stored ? rulesOf(stored.object) : [] };
}

/** Each single thing that a rule allows. */
function atoms(rule: Json, base: Attributes): Attributes[] {
  const paths = texts(rule["nonResourceURLs"]);
  const names = texts(rule["resourceNames"]);
  return texts(rule["verbs"]).flatMap((verb) => [
    ...paths.map((path) => ({ ...base, verb, path })),
    ...texts(rule["apiGroups"]).flatMap((group) =>
      texts(rule["resources"]).flatMap((resource) => {
        const [plural = "", subresource = ""] = resource.split("/");
        return (names.length > 0 ? names : [""]).map((name) => ({ ...base, verb, group, plural, subresource, name }));
      }),
    ),
  ]);
}
