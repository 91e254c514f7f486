import type { Pod } from "@causeway/kubernetes";
import type { ClaimStep, Target } from "../objects/claim.ts";
import type { RevisionStep } from "../objects/revisions.ts";

/**
 * `unavailable`: old pods that are replaced beyond maxSurge or maxUnavailable since they do not work. They are read
 * from the server first: a silent watch does not show that they became ready.
 */
export type Step =
  | ClaimStep
  | RevisionStep
  /** Pods of the present revision, one for each node. */
  | {
      readonly type: "create-pods";
      readonly nodes: readonly string[];
      readonly hash: string;
      readonly unavailable: readonly Pod[];
    }
  | {
      readonly type: "delete-pods";
      readonly targets: readonly Target[];
      /** Nodes on which a pod failed: the next failure there is handled later. */
      readonly failedOn: readonly string[];
      readonly unavailable: readonly Pod[];
    };
