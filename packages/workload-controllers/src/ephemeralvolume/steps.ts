import type { PersistentVolumeClaim } from "../objects/storage.ts";

export interface Step {
  readonly type: "create-claim";
  readonly claim: PersistentVolumeClaim;
}
