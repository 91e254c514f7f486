import type { KubeObject } from "@causeway/kubernetes";
import { array, at, record, records, text, texts, type Json } from "../json/json.ts";
import type { Resource, ResourceVersion } from "./resource.ts";
import { badRequest } from "../errors/status.ts";
import { labelTests } from "../syntax/label-selector.ts";

/** Says whether an object is selected. */
export type Matches = (object: KubeObject) => boolean;

/** Reads a label selector as query parameters carry it. Throws 400. */
export function labelSelector(selector: string): Matches {
  const tests = labelTests(selector);
  return (object) => {
    const labels = record(object.metadata.labels);
    return tests.every((t) => t(labels));
  };
}

/** A metav1.LabelSelector on a map of labels. */
export function matchesLabels(selector: unknown, labels: Json): boolean {
  const { matchLabels, matchExpressions } = record(selector);
  if (!Object.entries(record(matchLabels)).every(([key, value]) => labels[key] === value)) return false;
  return records(matchExpressions).every((e) => {
    const key = text(e["key"]);
    const values = texts(e["values"]);
    const value = labels[key];
    if (e["operator"] === "Exists") return key in labels;
    if (e["operator"] === "DoesNotExist") return !(key in labels);
    const within = key in labels && values.includes(text(value));
    return e["operator"] === "In" ? within : !within;
  });
}

/** Text of a label selector object in order of its keys, as Scale's status.selector carries it. */
export function selectorText(selector: unknown): string {
  const { matchLabels, matchExpressions, ...rest } = record(selector);
  const equal = Object.entries(record(matchLabels ?? (matchExpressions ? {} : rest))).map(
    ([key, value]) => [key, `${key}=${text(value)}`] as const,
  );
  const sets = records(matchExpressions).map((e) => {
    const key = text(e["key"]);
    if (e["operator"] === "Exists") return [key, key] as const;
    if (e["operator"] === "DoesNotExist") return [key, `!${key}`] as const;
    return [key, `${key} ${text(e["operator"]).toLowerCase()} (${texts(e["values"]).toSorted().join(",")})`] as const;
  });
  const all = [...equal, ...sets].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return all.map(([, requirement]) => requirement).join(",");
}

/** A field selector that was read for a kind. */
export interface FieldSelector {
  readonly matches: Matches;
  /** The one name or namespace selected, if the selector asks for one by "=". */
  readonly name?: string;
  readonly namespace?: string;
}

/** Reads a field selector for a kind. Throws 400 on a field that the kind cannot be selected by. */
export function fieldSelector(selector: string, resource: Resource, version: ResourceVersion): FieldSelector {
  const terms = (selector.match(/(?:\\.|\\$|[^,\\])+/gs) ?? []).map(fieldTerm);
  const hasPlace = resource.namespaced || isPlain(resource, version);
  const allowed = new Set(["metadata.name", ...(hasPlace ? ["metadata.namespace"] : [])]);
  for (const field of version.selectable ?? []) allowed.add(field);
  const unknown = terms.find((t) => !allowed.has(t.field));
  if (unknown) throw badRequest(unknownField(unknown.field, resource, version));
  const fixed = (field: string): string | undefined => terms.find((t) => t.field === field && t.equal)?.value;
  const name = fixed("metadata.name");
  const namespace = fixed("metadata.namespace");
  return {
    matches: (object) => terms.every((t) => (fieldText(object, t.field) === t.value) === t.equal),
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/** Of no kind of its own mind about what it can be selected by. */
function isPlain(resource: Resource, version: ResourceVersion): boolean {
  return !resource.custom && (version.selectable ?? []).length === 0;
}

/** Kinds that can be selected by nothing but their names say so. */
function unknownField(field: string, resource: Resource, version: ResourceVersion): string {
  if (resource.kind === "Job") return `field label ${JSON.stringify(field)} not supported for Job`;
  if (resource.kind === "ResourceSlice") {
    return `field label not supported for ${resource.group}/${version.name}, Kind=${resource.kind}: ${field}`;
  }
  if (!isPlain(resource, version)) return `field label not supported: ${field}`;
  return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

function fieldTerm(term: string): { field: string; equal: boolean; value: string } {
  const match = /^((?:(?!!=|=)[^])*)(!=|==|=)([^]*)$/.exec(term);
  if (!match) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const [, field = "", operator, raw = ""] = match;
  return { field, equal: operator !== "!=", value: unescaped(raw) };
}

/** Values escape backslashes, commas and equal signs by a backslash. */
function unescaped(raw: string): string {
  const wrong = /\\[^]?/.exec(raw.replace(/\\[\\,=]/g, "xx"));
  if (wrong) throw badRequest(`invalid field selector: invalid escape sequence: ${wrong[0]}`);
  const bare = raw.replace(/\\[\\,=]/g, "").match(/=/);
  if (bare) throw badRequest(`invalid field selector: unescaped character in value: ${"=".charCodeAt(0)}`);
  return raw.replace(/\\([\\,=])/g, "$1");
}

function fieldText(object: KubeObject, path: string): string {
  const value = at(object, ...path.split("."));
  if (value === undefined || value === null) return path === "spec.unschedulable" ? "false" : "";
  if (path === "source") return text(at(value, "component")) || text(at(object, "reportingComponent"));
  if (path === "status.podIPs")
    return array(value)
      .map((ip) => text(at(ip, "ip")))
      .join(",");
  return Array.isArray(value) ? array(value).join(",") : String(value as string | number | boolean);
}
