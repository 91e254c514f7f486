import type { KubeObject, ResourceType } from "@causeway/kubernetes";
import type { TSchema } from "typebox";

/** A column that kubectl prints of a kind. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "date" | "boolean";
  readonly jsonPath: string;
  readonly description?: string;
  readonly priority?: number;
}

/** A served version of a kind that is not the stored one. */
export interface KindVersion {
  /** Such as "v1beta1". */
  readonly name: string;
  readonly schema: TSchema;
  readonly columns: readonly PrinterColumn[];
  /** Clients that use a deprecated version get a warning. */
  readonly deprecated: boolean;
  /** To the stored version and back: pure, and without loss. */
  readonly toStored: (object: KubeObject) => KubeObject;
  readonly fromStored: (object: KubeObject) => KubeObject;
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
  /** The other versions that are served, newest first. */
  readonly versions: readonly KindVersion[];
  /** Contract labels of the CRD, such as {"cluster.x-k8s.io/v1beta2": "v1beta2"}. */
  readonly labels: Readonly<Record<string, string>>;
}
