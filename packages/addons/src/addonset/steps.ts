import type { ObjectKey } from "@causeway/kubernetes";

/** What an apply is for. */
export type ApplyReason = "install" | "restore";

/** What is written for Argo CD, in the management cluster. */
export type ArgoStep =
  | { readonly type: "add-argo-finalizer" }
  | { readonly type: "remove-argo-finalizer" }
  | { readonly type: "apply-cluster-secret" }
  | { readonly type: "apply-application"; readonly addon: string }
  /** `cascade`: with the objects of the Application. */
  | { readonly type: "delete-application"; readonly key: ObjectKey; readonly cascade: boolean }
  | { readonly type: "delete-cluster-secret"; readonly key: ObjectKey };

/** What plan decides for one AddonSet; `addon` and `name` identify the object. */
export type Step =
  | ArgoStep
  | { readonly type: "add-finalizer" }
  | { readonly type: "remove-finalizer" }
  /** The set goes with its Cluster. */
  | { readonly type: "adopt" }
  /** Objects are in the status before they are applied, so that none is forgotten when it is to be pruned. */
  | { readonly type: "record" }
  | {
      readonly type: ApplyReason;
      readonly addon: string;
      readonly name: string;
      readonly digest: string;
    }
  /** Deletes an object that cannot be changed as declared; it is created again when it is gone. */
  | { readonly type: "recreate"; readonly addon: string; readonly name: string }
  | { readonly type: "delete"; readonly addon: string; readonly name: string };
