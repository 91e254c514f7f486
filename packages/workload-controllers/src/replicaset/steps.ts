import type { Pod } from "@causeway/kubernetes";
import type { ClaimStep, Target } from "../objects/claim.ts";

export type Step =
  | ClaimStep
  | { readonly type: "create-pods"; readonly count: number; readonly pod: Pod }
  | { readonly type: "delete-pods"; readonly targets: readonly Target[] };
