import type { ClusterClass } from "@causeway/api";
import type { Referred } from "../contract/kind-table.ts";
import type { ProviderObject } from "../contract/provider-object.ts";
import type { TemplateReference } from "../topology/blueprint.ts";
import type { VariableDefinition } from "../variables/definition.ts";

/**
 * The variables that the extension of a patch has, or why they are not known. `isOld`: there is no response, but
 * nothing is known to be wrong (failurePolicy Ignore, or others are served first): these are what the status lists.
 */
export type DiscoveredVariables = { readonly patch: string; readonly handler: string } & (
  | { readonly variables: readonly VariableDefinition[]; readonly isOld?: true }
  | { readonly problem: string }
);

/** All that the planner of ClusterClasses reads. */
export interface Observed {
  readonly clusterClass: ClusterClass;
  /** Each template that it refers to, and where. */
  readonly templates: readonly {
    readonly path: string;
    readonly reference: TemplateReference;
    readonly found: Referred<ProviderObject>;
  }[];
  /** By patch, in their order. */
  readonly discovered: readonly DiscoveredVariables[];
}
