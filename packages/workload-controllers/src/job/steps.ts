import type { Pod } from "@causeway/kubernetes";
import type { ClaimStep, Target } from "../objects/claim.ts";

export type Step =
  | ClaimStep
  | { readonly type: "create-pods"; readonly pods: readonly Pod[] }
  /** `uncounted`: without the tracking finalizer, so that they do not count as failed. */
  | { readonly type: "delete-pods"; readonly targets: readonly Target[]; readonly uncounted: boolean }
  | { readonly type: "remove-finalizers"; readonly targets: readonly Target[] };
