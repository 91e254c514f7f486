import type { Column, Resource, ResourceVersion, Strategy, Subresource } from "./resource.ts";
import { apiVersionOf } from "./resource.ts";

const ALL_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"] as const;
const WRITE_STATUS: readonly string[] = ["get", "patch", "update"];
export const STATUS: Subresource = { name: "status", verbs: WRITE_STATUS };
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
    unconditionalUpdate: true,
  };
}
