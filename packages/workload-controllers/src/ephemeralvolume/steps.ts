import type { PersistentVolumeClaim } from "../objects/storage.ts";

/** The one step of this controller: owner references delete the claim later. */
export interface Step {
  readonly type: "create-claim";
  readonly claim: PersistentVolumeClaim;
}
