import type { KubeObject } from "@causeway/kubernetes";
import type { User } from "../../contract/user.ts";
import { at, fields, record, same, text, type Json } from "../../json/json.ts";
import type { Resource, WriteContext } from "../../contract/resource.ts";
import { forbiddenField } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { GROUP } from "../webhooks/hooks.ts";

/** Who has a policy read parameters must be allowed to read all of that kind. */
export function paramKindPermission(
  object: KubeObject,
  old: KubeObject | undefined,
  context: WriteContext,
): FieldProblem[] {
  const given = at(object, "spec", "paramKind");
  const { user, cluster } = context;
  if (!given || (old && same(given, at(old, "spec", "paramKind"))) || mayAll(user)) return [];
  const { group, version, resource } = resolved(given, context);
  const about = { group, version, plural: resource?.plural ?? "*", subresource: "" };
  if (cluster.access.allows({ user, verb: "get", namespace: "*", name: "*", ...about })) return [];
  const which = `(kind=${text(at(given, "kind"))}, apiVersion=${text(at(given, "apiVersion"))})`;
  const why = `user ${shown(user)} must have "get" permission on all objects of the referenced paramKind ${which}`;
  return [forbiddenField("spec.paramKind", why)];
}

/** Who binds a policy to parameters must be allowed to read those; to read everything where their kind is not known. */
export function paramRefPermission(
  object: KubeObject,
  old: KubeObject | undefined,
  context: WriteContext,
): FieldProblem[] {
  const spec = record(fields(object)["spec"]);
  const { paramRef } = spec;
  const { user, cluster } = context;
  const policyName = text(spec["policyName"]);
  const kept = old && same([paramRef, policyName], [at(old, "spec", "paramRef"), at(old, "spec", "policyName")]);
  if (!paramRef || kept || mayAll(user)) return [];
  const key = {
    cluster: cluster.name,
    resource: `${GROUP}/validatingadmissionpolicies`,
    namespace: "",
    name: policyName,
  };
  const policy = cluster.store.get(key)?.object;
  const kind = policy && at(policy, "spec", "paramKind");
  const { group, version, resource } = kind ? resolved(kind, context) : ANYTHING;
  const name = text(record(paramRef)["name"]);
  const verb = name === "" ? "list" : "get";
  const namespace = text(record(paramRef)["namespace"]);
  const about = { group, version, plural: resource?.plural ?? "*", subresource: "" };
  if (cluster.access.allows({ user, verb, namespace, name, ...about })) return [];
  const all = `does not have "${verb}" permission for all groups, versions and resources`;
  const needs = `to determine minimum required permissions and user ${shown(user)} ${all}`;
  const why = !policy
    ? `unable to get policy ${policyName} ${needs}`
    : kind && !resource
      ? `unable to resolve paramKind &ParamKind{APIVersion:${text(at(kind, "apiVersion"))},Kind:${text(at(kind, "kind"))},} ${needs}`
      : `user ${shown(user)} does not have "${verb}" permission on the object referenced by paramRef`;
  return [forbiddenField("spec.paramRef", why)];
}

const ANYTHING = { group: "*", version: "*", resource: undefined };

function mayAll({ groups }: User): boolean {
  return groups.includes("system:masters");
}

function resolved(
  kind: unknown,
  { cluster }: WriteContext,
): { group: string; version: string; resource: Resource | undefined } {
  const [version = "", group = ""] = text(at(kind, "apiVersion")).split("/").toReversed();
  return { group, version, resource: cluster.catalog.byKind(group, text(at(kind, "kind"))) };
}

/** A user as Go prints the one that kube-apiserver has. */
function shown({ name, uid = "", groups, extra }: User): string {
  const pairs = Object.entries((extra ?? {}) as Json).sort(([a], [b]) => (a < b ? -1 : 1));
  const map = pairs.map(([key, values]) => `${key}:[${(values as string[]).join(" ")}]`).join(" ");
  return `&{${name} ${uid} [${groups.join(" ")}] map[${map}]}`;
}
