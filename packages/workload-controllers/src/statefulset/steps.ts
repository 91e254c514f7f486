import type { ObjectMeta, OwnerReference, Pod } from "@causeway/kubernetes";
import type { ClaimStep, Target } from "../objects/claim.ts";
import type { RevisionStep } from "../objects/revisions.ts";
import type { PersistentVolumeClaim } from "../objects/storage.ts";

/** What plan may return. */
export type Step =
  | ClaimStep
  | RevisionStep
  | { readonly type: "create-claim"; readonly pod: string; readonly claim: PersistentVolumeClaim }
  | {
      /** Refused by the server if the claim changed since it was read. */
      readonly type: "own-claim";
      readonly target: Target;
      readonly resourceVersion: ObjectMeta["resourceVersion"];
      readonly ownerReferences: readonly OwnerReference[];
    }
  | { readonly type: "create-pod"; readonly pod: Pod }
  | { readonly type: "label-pod"; readonly target: Target; readonly labels: Readonly<Record<string, string>> }
  | { readonly type: "delete-pod"; readonly target: Target };
