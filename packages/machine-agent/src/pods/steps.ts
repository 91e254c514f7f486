import type { PodStatus } from "@causeway/kubernetes";

/** What the node does with one pod. */
export type Step =
  | { readonly type: "report"; readonly status: PodStatus }
  /** The pod's containers ended: its object goes, as a kubelet deletes it. */
  | { readonly type: "delete" };
