import type { KubeObject } from "@causeway/kubernetes";
import type { Attempt, GroupVersionKind, Operation } from "../contract/admission.ts";
import { builtIns, Catalog } from "../contract/catalog.ts";
import { Changes } from "../contract/changes.ts";
import type { Attributes } from "../contract/attributes.ts";
import type { Cluster } from "../contract/cluster.ts";
import { define, type Definition } from "../contract/define.ts";
import type { Resource, ResourceVersion } from "../contract/resource.ts";
import type { User } from "../contract/user.ts";
import type { Json } from "../json/json.ts";
import { clusterWith, type Stored } from "./objects.ts";

export const NAMESPACES = define({ kind: "Namespace", plural: "namespaces", clusterScoped: true });
export const MAPS = define({ kind: "ConfigMap", plural: "configmaps" });
export const NODES = define({ kind: "Node", plural: "nodes", clusterScoped: true });

/** A kind that is served in several versions; the first one is stored. */
export function inVersions(definition: Definition, ...versions: readonly ResourceVersion[]): Resource {
  const [first] = versions;
  return { ...define({ ...definition, version: first?.name ?? "v1" }), versions };
}

/** What the cluster of a test has in addition to its objects. */
export interface Parts {
  readonly resources?: readonly Resource[];
  readonly allows?: (attributes: Attributes) => boolean;
  readonly more?: Partial<Cluster>;
}

/** As much of a cluster as admission reads. */
export async function admissionCluster(stored: Stored = {}, parts: Parts = {}): Promise<Cluster> {
  const { resources = [], allows = () => false, more = {} } = parts;
  const catalog = new Catalog(builtIns([NAMESPACES, MAPS, NODES, ...resources]));
  const cluster = await clusterWith(stored);
  return { ...cluster, catalog, changes: new Changes(), access: { allows }, rules: [], ...more } as unknown as Cluster;
}

/** What a test says of an attempt; the rest is a CREATE by "jane" in namespace "ns". */
export interface AttemptFields {
  readonly operation?: Operation;
  readonly object?: unknown;
  readonly old?: unknown;
  readonly version?: ResourceVersion;
  readonly kind?: GroupVersionKind;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  readonly user?: User;
  readonly dryRun?: boolean;
  readonly options?: Json | null;
}

/** An attempt, and what the plugins say about it. */
export interface Attempted {
  readonly attempt: Attempt;
  readonly warnings: readonly string[];
  readonly annotations: readonly (readonly [string, string])[];
}

/** An attempt on an object of this kind. */
export function attemptOn(cluster: Cluster, resource: Resource, given: AttemptFields = {}): Attempted {
  const { version = resource.versions[0], operation = "CREATE", subresource = "" } = given;
  if (!version) throw new Error(`${resource.kind} has no version`);
  const warnings: string[] = [];
  const annotations: (readonly [string, string])[] = [];
  const call: Attempt["call"] = {
    cluster,
    resource,
    version,
    namespace: given.namespace ?? (resource.namespaced ? "ns" : ""),
    name: given.name ?? "",
    subresource,
    user: given.user ?? { name: "jane", groups: ["developers"] },
    dryRun: given.dryRun ?? false,
    fieldManager: "test",
    fieldValidation: "Strict",
    warn: (message) => void warnings.push(message),
    annotate: (key, value) => void annotations.push([key, value]),
  };
  const kind = given.kind ?? { group: resource.group, version: version.name, kind: resource.kind };
  const [object, old] = [given.object, given.old] as (KubeObject | undefined)[];
  return { attempt: { call, operation, kind, object, old, options: given.options ?? null }, warnings, annotations };
}
