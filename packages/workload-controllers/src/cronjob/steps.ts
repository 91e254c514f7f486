import type { Job } from "@causeway/kubernetes";
import type { Target } from "../objects/claim.ts";

/** What plan may return. The name of a Job follows from its scheduled time, so that no time gets two Jobs. */
export type Step =
  | { readonly type: "create-job"; readonly job: Job }
  | { readonly type: "delete-job"; readonly target: Target };
