import type { KubeObject, ObjectKey, ResourceType } from "@causeway/kubernetes";
import type { MadeObject } from "./made-objects.ts";

/** What plan may return: writes of the Cluster itself, and of the objects that its topology wants. */
export type TopologyStep =
  /**
   * Records in the Cluster which objects are its own, before they are made: whatever happens then, its deletion finds
   * them.
   */
  | { readonly type: "apply-cluster"; readonly object: KubeObject }
  /**
   * The defaults of variables, as admission sets them: a later default of the ClusterClass does not change this
   * Cluster.
   */
  | { readonly type: "set-variables"; readonly key: ObjectKey; readonly body: Readonly<Record<string, unknown>> }
  /** Which hooks are still to be called, and whether the Cluster may go, in annotations of the Cluster. */
  | { readonly type: "set-hooks"; readonly key: ObjectKey; readonly body: Readonly<Record<string, unknown>> }
  | {
      readonly type: "apply";
      readonly why: "create" | "update" | "rotate";
      readonly made: MadeObject;
      readonly replaces?: string;
    }
  | {
      readonly type: "delete";
      readonly resource: ResourceType<KubeObject>;
      readonly key: ObjectKey;
      readonly uid: string;
    };

/** Who applies the objects of a topology, as upstream's controller calls itself in managedFields. */
export const topologyManager = "capi-topology";
