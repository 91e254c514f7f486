import type { Preemption } from "./preemption.ts";
import type { VolumePlan } from "./filters/volume-binding.ts";

/** What can be done for a pod that waits for a node. */
export type SchedulerStep =
  | { readonly type: "bind"; readonly node: string; readonly volumes: VolumePlan }
  | ({ readonly type: "preempt" } & Preemption)
  /** An empty node name takes a nomination back. */
  | { readonly type: "report"; readonly message: string; readonly nominatedNode: string };
