import type { ClusterClass } from "@causeway/api";
import type { Referred } from "../contract/kind-table.ts";
import type { ProviderObject } from "../contract/provider-object.ts";
import type { TemplateReference } from "../topology/blueprint.ts";

/** All that the planner of ClusterClasses reads. */
export interface Observed {
  readonly clusterClass: ClusterClass;
  /** Each template that it refers to, and where. */
  readonly templates: readonly {
    readonly path: string;
    readonly reference: TemplateReference;
    readonly found: Referred<ProviderObject>;
  }[];
}
