import type { ClaimStep, Target } from "../objects/claim.ts";

/** A pod to create. */
export interface PodOrder {
  /** Its completion index, of an Indexed Job. */
  readonly index?: number;
  /** With backoffLimitPerIndex: the uid of the pod of that index that failed last. */
  readonly failed?: string;
}

/** What plan may return. */
export type Step =
  | ClaimStep
  /** `after`: pods of the Job that are there already, so that each part of a large Job is another step. */
  | { readonly type: "create-pods"; readonly pods: readonly PodOrder[]; readonly after: number }
  /** `uncounted`: without the tracking finalizer, so that they do not count as failed. */
  | { readonly type: "delete-pods"; readonly targets: readonly Target[]; readonly uncounted: boolean }
  | { readonly type: "remove-finalizers"; readonly targets: readonly Target[] };
