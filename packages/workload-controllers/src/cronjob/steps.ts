import type { Job } from "@causeway/kubernetes";
import type { Target } from "../objects/claim.ts";

export type Step =
  | { readonly type: "create-job"; readonly job: Job }
  | { readonly type: "delete-job"; readonly target: Target };
