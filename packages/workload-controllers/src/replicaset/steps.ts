import type { Pod } from "@causeway/kubernetes";
import type { ClaimStep, Target } from "../objects/claim.ts";

/** What plan may return. */
export type Step =
  | ClaimStep
  /** `after`: pods that are there already, so that each part of a large set is another step. */
  | { readonly type: "create-pods"; readonly count: number; readonly after: number; readonly pod: Pod }
  | { readonly type: "delete-pods"; readonly targets: readonly Target[] };
