import type { NodeCondition, Pod, Taint } from "@causeway/kubernetes";

/** What is done for a node. */
export type NodeStep =
  | { readonly type: "write-conditions"; readonly conditions: readonly NodeCondition[] }
  /** All taints of the node, those that are not ours included. */
  | { readonly type: "write-taints"; readonly taints: readonly Taint[] }
  /** The pod's node does not report: nothing says that the pod is ready. */
  | { readonly type: "mark-not-ready"; readonly pod: Pod }
  /** The pod does not tolerate a NoExecute taint of its node, or not any longer. */
  | { readonly type: "evict"; readonly pod: Pod };
