import type { Column, Resource, ResourceVersion, Strategy, Subresource } from "./resource.ts";
import { apiVersionOf } from "./resource.ts";

const ALL_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"] as const;
/** The verbs of a status subresource. */
export const WRITE_STATUS: readonly string[] = ["get", "patch", "update"];
/** The status subresource. */
export const STATUS: Subresource = { name: "status", verbs: WRITE_STATUS };
/** The scale subresource of workloads (autoscaling/v1 Scale). */
export const SCALE: Subresource = {
  name: "scale",
  verbs: WRITE_STATUS,
  type: { group: "autoscaling", version: "v1", kind: "Scale" },
  scale: {
    specReplicas: ["spec", "replicas"],
    statusReplicas: ["status", "replicas"],
    labelSelector: ["spec", "selector"],
  },
};

/** Kinds whose objects a PUT makes where there are none. */
const CREATED_BY_UPDATE: ReadonlySet<string> = new Set([
  "/services",
  "/endpoints",
  "/events",
  "/limitranges",
  "coordination.k8s.io/leases",
  "events.k8s.io/events",
  "node.k8s.io/runtimeclasses",
  "rbac.authorization.k8s.io/roles",
  "rbac.authorization.k8s.io/rolebindings",
  "rbac.authorization.k8s.io/clusterroles",
  "rbac.authorization.k8s.io/clusterrolebindings",
]);

/** Kinds whose objects a PUT replaces only at the revision that it names. */
const PINNED_UPDATES: ReadonlySet<string> = new Set([
  "admissionregistration.k8s.io/mutatingwebhookconfigurations",
  "admissionregistration.k8s.io/validatingadmissionpolicies",
  "admissionregistration.k8s.io/validatingadmissionpolicybindings",
  "admissionregistration.k8s.io/validatingwebhookconfigurations",
  "coordination.k8s.io/leases",
  "node.k8s.io/runtimeclasses",
  "policy/poddisruptionbudgets",
  "storage.k8s.io/csidrivers",
  "storage.k8s.io/csinodes",
  "storage.k8s.io/csistoragecapacities",
  "storage.k8s.io/volumeattachments",
]);

/** A built-in kind as its package describes it; by default a namespaced one of the core group with all verbs. */
export interface Definition {
  readonly kind: string;
  readonly plural: string;
  readonly group?: string;
  /** Default "v1". */
  readonly version?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly clusterScoped?: boolean;
  readonly subresources?: readonly Subresource[];
  readonly columns?: readonly Column[];
  readonly selectable?: readonly string[];
  readonly generation?: boolean;
  /** The warning that its users are given. */
  readonly deprecated?: string;
  readonly strategy?: Strategy;
  readonly verbs?: readonly string[];
}

/** A built-in resource with one version, from what is particular to it. */
export function define(definition: Definition): Resource {
  const { kind, plural, group = "", version: name = "v1" } = definition;
  const version: ResourceVersion = {
    name,
    subresources: definition.subresources ?? [],
    selectable: definition.selectable ?? [],
    ...(definition.columns ? { columns: definition.columns } : {}),
    ...(definition.deprecated === undefined ? {} : { deprecated: definition.deprecated }),
  };
  return {
    group,
    plural,
    singular: kind.toLowerCase(),
    kind,
    listKind: `${kind}List`,
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? [],
    namespaced: definition.clusterScoped !== true,
    verbs: definition.verbs ?? ALL_VERBS,
    versions: [version],
    storedAs: apiVersionOf(group, name),
    storage: `${group}/${plural}`,
    custom: false,
    generation: definition.generation ?? false,
    strategy: definition.strategy ?? {},
    unconditionalUpdate: !PINNED_UPDATES.has(`${group}/${plural}`),
    createdByUpdate: CREATED_BY_UPDATE.has(`${group}/${plural}`),
  };
}
