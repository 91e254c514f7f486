/** What an apply is for. */
export type ApplyReason = "install" | "restore";

/** What plan decides for one AddonSet; `addon` and `name` identify the object. */
export type Step =
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
