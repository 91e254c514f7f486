import type { KubeObject, ResourceType } from "@causeway/kubernetes";
import type { TSchema } from "typebox";

export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "date" | "boolean";
  readonly jsonPath: string;
  readonly description?: string;
  readonly priority?: number;
}

/** One custom resource kind: the handle clients use, and what its CRD is made from. */
export interface Kind<T extends KubeObject> extends ResourceType<T> {
  readonly schema: TSchema;
  readonly shortNames: readonly string[];
  readonly columns: readonly PrinterColumn[];
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath?: string;
  };
  /** Contract labels of the CRD, such as {"cluster.x-k8s.io/v1beta2": "v1beta2"}. */
  readonly labels: Readonly<Record<string, string>>;
}
