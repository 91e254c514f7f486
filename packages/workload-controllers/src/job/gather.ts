import { controllerOf, Job, type Informer, type ObjectKey, type Pod } from "@causeway/kubernetes";
import type { OwnedPods } from "../objects/owned-pods.ts";
import { isTracked } from "./pod-facts.ts";

/** Index of pods by "namespace/name" of the Job that their owner reference names, whether it exists or not. */
export const byJob = "job";
/** The value of `spec.managedBy` that means this controller, as does none; Jobs with another are left alone. */
export const ownManager = "kubernetes.io/job-controller";

/** A Job with its pods, or what is left of the pods of a Job that is gone. */
export interface Observed {
  readonly key: ObjectKey;
  /** Undefined: it is gone, or another controller manages it. */
  readonly job: Job | undefined;
  /** Pods that the Job controls. */
  readonly pods: readonly Pod[];
  /** Pods of the namespace without a controller. */
  readonly orphans: readonly Pod[];
  /** Pods with the tracking finalizer whose Job is gone. */
  readonly strays: readonly Pod[];
}

/** What gather reads. */
export interface Caches {
  readonly jobs: Informer<Job>;
  readonly pods: OwnedPods;
}

/** Undefined: another controller manages the Job. Lists its pods again if the answer to a create was lost. */
export async function gather(
  { jobs, pods }: Caches,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Observed | undefined> {
  const job = jobs.get(key);
  if (job?.spec.managedBy !== undefined && job.spec.managedBy !== ownManager) return undefined;
  if (job) await pods.settle(job, job.spec.selector, signal);
  const named = pods.pods.byIndex(byJob, `${key.namespace}/${key.name}`);
  return {
    key,
    job,
    pods: job ? pods.controlledBy(job) : [],
    orphans: job ? pods.orphans(key.namespace) : [],
    strays: named.filter((pod) => isTracked(pod) && controllerOf(pod)?.uid !== job?.metadata.uid),
  };
}

/** The index `byJob`: a pod by the key of the Job that its reference names. */
export function jobIndex(pod: Pod): string[] {
  const owner = controllerOf(pod);
  return owner?.kind === Job.kind ? [`${pod.metadata.namespace ?? ""}/${owner.name}`] : [];
}
