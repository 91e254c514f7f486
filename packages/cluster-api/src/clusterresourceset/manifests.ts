import { CausewayError } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { parseAllDocuments } from "yaml";
import type { ObservedResource } from "./observed.ts";

/** The most objects that one Secret or ConfigMap may hold. */
export const mostObjects = 2000;

/** Created before all others, in this order. */
const first = ["Namespace", "CustomResourceDefinition", "ServiceAccount", "Secret", "ConfigMap", "StorageClass"];

/** The values of a resource as text, in the order of their keys. */
export function valuesOf({ kind, object }: Pick<ObservedResource, "kind" | "object">): string[] {
  const data: Readonly<Record<string, string>> = object?.data ?? {};
  const sorted = Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([, value]) => (kind === "Secret" ? Buffer.from(value, "base64").toString("utf8") : value));
}

/**
 * Every object in the values of a resource: YAML documents or JSON, lists opened.
 * @throws CAPI_RESOURCE_SET_INVALID
 */
export function manifestsOf(resource: ObservedResource): KubeObject[] {
  const objects = valuesOf(resource)
    .flatMap((text) => documents(text, resource))
    .flatMap(opened);
  if (objects.length > mostObjects) throw invalid(resource, `it holds more than ${mostObjects} objects`);
  const found = objects.filter((value): value is object => typeof value === "object" && value !== null);
  const wrong = found.find((value) => !isObject(value));
  if (wrong) throw invalid(resource, "a document lacks apiVersion, kind or metadata.name");
  return found.filter(isObject).toSorted((a, b) => rank(a) - rank(b));
}

function documents(text: string, resource: ObservedResource): unknown[] {
  const parsed = parseAllDocuments(text);
  if (!Array.isArray(parsed)) return [];
  return parsed.map((document) => {
    const [error] = document.errors;
    if (error) throw invalid(resource, error.message);
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  });
}

function opened(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null || !("kind" in value) || !("items" in value)) return [value];
  return value.kind === "List" && Array.isArray(value.items) ? value.items : [value];
}

function isObject(value: object): value is KubeObject {
  const { apiVersion, kind, metadata } = value as Partial<KubeObject>;
  return typeof apiVersion === "string" && typeof kind === "string" && typeof metadata?.name === "string";
}

function rank({ kind }: KubeObject): number {
  const at = first.indexOf(kind);
  return at === -1 ? first.length : at;
}

function invalid({ kind, name }: ObservedResource, why: string): CausewayError {
  return new CausewayError("CAPI_RESOURCE_SET_INVALID", `${kind} ${name} cannot be applied: ${why}`, {
    hint: "Correct its data: each value is YAML or JSON with complete Kubernetes objects.",
  });
}
