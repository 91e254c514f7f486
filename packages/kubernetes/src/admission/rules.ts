import { isRecord } from "@causeway/foundation";
import type { KubeObject } from "../types/meta.ts";

/** A write as admission judges it; objects are of one version of their kind, whatever the writer used. */
export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  /** Of `object`: "Scale" for the scale subresource. */
  readonly kind: string;
  /** Undefined on DELETE. */
  readonly object: KubeObject | undefined;
  /** Undefined on CREATE. */
  readonly previous: KubeObject | undefined;
  readonly dryRun: boolean;
}

/** A value that admission writes in place of another: at `path`, which exists, member by member. */
export interface Replacement {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** A copy of the object with the replacements; the same object if there is none. */
export function withReplacements<T extends KubeObject>(object: T, replacements: readonly Replacement[]): T {
  if (replacements.length === 0) return object;
  const copy = structuredClone(object);
  for (const { path, value } of replacements) {
    const parent = path
      .slice(0, -1)
      .reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), copy);
    const name = path.at(-1);
    if (isRecord(parent) && name !== undefined) parent[name] = value;
  }
  return copy;
}

/** What admission writes in the form that controllers and users expect, before rules judge it. */
export interface AdmissionDefaults {
  /** Plurals of which creations and updates are changed, by API group. */
  readonly writes: Readonly<Record<string, readonly string[]>>;
  /** What changes in an object, of any version of its kind. */
  of(object: KubeObject): readonly Replacement[];
}

/** Rules for the kinds of some API groups, which a webhook or an API server of the same process asks. */
export interface AdmissionRules {
  /** The version in which the rules read objects. */
  readonly version: string;
  /** Plurals of kinds that do not have this version, or are not in a namespace: an API server matches by both. */
  readonly apart?: Readonly<Record<string, { readonly version: string; readonly namespaced: boolean }>> | undefined;
  /** Plurals, or "plural/subresource", of which creations and updates are judged, by API group. */
  readonly writes: Readonly<Record<string, readonly string[]>>;
  /** Plurals of which deletions are judged, by API group. */
  readonly deletions: Readonly<Record<string, readonly string[]>>;
  /** Why a write is refused, a line for each problem; none: it is allowed. */
  refusals(request: AdmissionRequest): Promise<readonly string[]>;
  /** Without it nothing is changed. */
  readonly defaults?: AdmissionDefaults;
}

/** What is written: the resource and what is done with it. */
export interface WrittenResource {
  readonly group: string;
  readonly plural: string;
  readonly subresource: string;
  readonly operation: string;
}

/** True if rules judge such a write. */
export function rulesConcern(
  rules: Pick<AdmissionRules, "writes" | "deletions">,
  { group, plural, subresource, operation }: WrittenResource,
): boolean {
  const name = subresource === "" ? plural : `${plural}/${subresource}`;
  if (operation === "DELETE") return listed(rules.deletions, group).includes(name);
  return (operation === "CREATE" || operation === "UPDATE") && listed(rules.writes, group).includes(name);
}

/** True if a write may be changed by defaults. */
export function defaultsConcern(
  { defaults }: Pick<AdmissionRules, "defaults">,
  { group, plural, subresource, operation }: WrittenResource,
): boolean {
  if (!defaults || subresource !== "" || (operation !== "CREATE" && operation !== "UPDATE")) return false;
  return listed(defaults.writes, group).includes(plural);
}

function listed(lists: Readonly<Record<string, readonly string[]>>, group: string): readonly string[] {
  return Object.hasOwn(lists, group) ? (lists[group] ?? []) : [];
}

/** How API servers reach a webhook. */
export interface AdmissionClient {
  readonly url?: string;
  readonly service?: { readonly namespace: string; readonly name: string; readonly path: string };
  /** Base64 of PEM. */
  readonly caBundle?: string;
}

/**
 * The webhooks of a ValidatingWebhookConfiguration for the rules of these API groups; none for groups without rules.
 */
export function admissionWebhooks(
  { version, apart, writes, deletions }: AdmissionRules,
  groups: readonly string[],
  client: AdmissionClient,
): object[] {
  const known = [...new Set([...Object.keys(writes), ...Object.keys(deletions)])].filter((one) => groups.includes(one));
  return known.map((group) => {
    const rule = ruleOf(group, { version, apart });
    return {
      ...webhook(`validation.${group}`, client),
      rules: [...rule(["CREATE", "UPDATE"], listed(writes, group)), ...rule(["DELETE"], listed(deletions, group))],
    };
  });
}

/** The webhooks of a MutatingWebhookConfiguration for the defaults of these API groups. */
export function defaultingWebhooks(
  { version, apart, defaults }: Pick<AdmissionRules, "version" | "apart" | "defaults">,
  groups: readonly string[],
  client: AdmissionClient,
): object[] {
  const writes = defaults?.writes ?? {};
  return Object.keys(writes)
    .filter((group) => groups.includes(group))
    .map((group) => ({
      ...webhook(`default.${group}`, client),
      rules: ruleOf(group, { version, apart })(["CREATE", "UPDATE"], listed(writes, group)),
    }));
}

function webhook(name: string, client: AdmissionClient): object {
  return {
    name,
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    failurePolicy: "Fail",
    matchPolicy: "Equivalent",
    timeoutSeconds: 10,
    clientConfig: client,
    // A finalizer or a label changes nothing that the rules read.
    matchConditions: [{ name: "spec", expression: "request.operation != 'UPDATE' || object.spec != oldObject.spec" }],
  };
}

/** One rule for each version and scope of the resources. */
function ruleOf(group: string, { version, apart = {} }: Pick<AdmissionRules, "version" | "apart">) {
  const placeOf = (resource: string): { version: string; namespaced: boolean } => {
    const plural = resource.split("/")[0] ?? "";
    return (Object.hasOwn(apart, plural) ? apart[plural] : undefined) ?? { version, namespaced: true };
  };
  return (operations: readonly string[], resources: readonly string[]): object[] => {
    const byPlace = Map.groupBy(resources, (resource) => {
      const place = placeOf(resource);
      return `${place.version} ${place.namespaced ? "Namespaced" : "Cluster"}`;
    });
    return [...byPlace].map(([place, names]) => {
      const [apiVersion, scope] = place.split(" ");
      return { apiGroups: [group], apiVersions: [apiVersion], operations, resources: names, scope };
    });
  };
}
