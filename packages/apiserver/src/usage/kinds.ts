import { define } from "../contract/define.ts";
import type { Catalog } from "../contract/catalog.ts";
import { at, record, text, type Json } from "../json/json.ts";
import type { Column, Resource } from "../contract/resource.ts";

/*
 * metrics.k8s.io: what nodes and pods use of processor and memory, read from kubelets when it is requested. Nothing of
 * it is stored. The kinds are those of metrics-server; a cluster that runs its own workloads has them without one.
 * Source: k8s.io/metrics, v1beta1.
 */

/** The group of the kinds. */
export const USAGE_GROUP = "metrics.k8s.io";
/** The only served version of the group. */
export const USAGE_VERSION = "v1beta1";

const READ = ["get", "list"];

const AGE: Column = { name: "Window", type: "string", cell: (object) => text(object["window"]) };

function usageOf(object: Json, name: string): string {
  const own = record(object["usage"])[name];
  if (own !== undefined) return text(own);
  const containers = object["containers"];
  if (!Array.isArray(containers)) return "";
  return containers.map((each) => text(at(each, "usage", name))).join(",");
}

const COLUMNS: readonly Column[] = [
  { name: "Name", type: "string", format: "name", cell: (object) => text(at(object, "metadata", "name")) },
  { name: "cpu", type: "string", cell: (object) => usageOf(object, "cpu") },
  { name: "memory", type: "string", cell: (object) => usageOf(object, "memory") },
  AGE,
];

const shared = { group: USAGE_GROUP, version: USAGE_VERSION, verbs: READ, columns: COLUMNS };

const KINDS: readonly Resource[] = [
  define({ ...shared, kind: "NodeMetrics", plural: "nodes", clusterScoped: true }),
  define({ ...shared, kind: "PodMetrics", plural: "pods" }),
].map((resource) => ({ ...resource, singular: "" }));

/** Has the cluster serve what its nodes and pods use. */
export function serveUsage(catalog: Catalog): void {
  for (const kind of KINDS) catalog.set(kind.storage, kind);
}

/** Whether a request is for metrics.k8s.io as this server serves it, and not for a CRD of that group. */
export function isUsage({ resource }: { readonly resource: Resource }): boolean {
  return resource.group === USAGE_GROUP && !resource.custom;
}
