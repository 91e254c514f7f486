import type { Pod } from "@causeway/kubernetes";

/** Deletes the pod at once, without its kubelet. One that has not ended is Failed first. */
export interface Step {
  readonly type: "remove-pod";
  readonly pod: Pod;
  /** Why, in the condition DisruptionTarget. */
  readonly message?: string;
}
