import type { Machine, Manifest } from "@causeway/api";

/** The writes that the plan of a MagnumCluster can order; `perform` does them. */
export type Step =
  | { readonly type: "add-finalizer" }
  /**
   * Deletes a row whose create did not finish, if it is not shown meanwhile; of one without the finalizer the
   * credential.
   */
  | { readonly type: "discard-row" }
  /** Writes an object as the cluster wants it; fields of others remain. */
  | { readonly type: "apply"; readonly name: string; readonly manifest: Manifest }
  /** Has the Machine go first when its group becomes smaller. */
  | { readonly type: "mark-machine"; readonly name: string; readonly machine: Machine }
  /** Takes the mark of an earlier request off, whose machine is to remain. */
  | { readonly type: "unmark-machine"; readonly name: string; readonly machine: Machine }
  /** Deletes the MachineDeployment of a node group that is no longer wanted. */
  | { readonly type: "delete-pool"; readonly name: string }
  /** Takes a deleted node group of which nothing is left off the row. */
  | { readonly type: "remove-group"; readonly name: string; readonly uuid: string }
  /** Deletes the check of a node group that is no longer wanted. */
  | { readonly type: "delete-health-check"; readonly name: string }
  /** Deletes the AddonSet of a cluster that gets no add-ons any longer. */
  | { readonly type: "delete-addons"; readonly name: string }
  /** Deletes the templates that no MachineDeployment refers to any longer. */
  | { readonly type: "delete-templates"; readonly name: string }
  /** Deletes the Cluster, and all that its controllers made. */
  | { readonly type: "delete-cluster" }
  /** Deletes the application credential, by itself. */
  | { readonly type: "revoke-credential" }
  | { readonly type: "remove-finalizer" };
