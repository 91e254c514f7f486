import type { ReplicaSet } from "@causeway/kubernetes";
import type { ClaimStep, Target } from "../objects/claim.ts";

/** What plan may return; pods are left to the ReplicaSets' controller. */
export type Step =
  | ClaimStep
  | { readonly type: "create-replica-set"; readonly set: ReplicaSet }
  | {
      /** Refused by the server if the ReplicaSet changed since it was read. */
      readonly type: "change-replica-set";
      readonly target: Target;
      readonly resourceVersion: string | undefined;
      readonly annotations: Readonly<Record<string, string>>;
      readonly minReadySeconds?: number;
      readonly scale?: { readonly from: number; readonly to: number };
    }
  | { readonly type: "delete-replica-set"; readonly target: Target };
