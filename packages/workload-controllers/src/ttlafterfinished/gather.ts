import type { Informer, Job, ObjectKey } from "@causeway/kubernetes";
import type { Deletions } from "../objects/deletions.ts";

/** A Job, finished or not. */
export interface Observed {
  readonly job: Job;
}

/** What gather reads; `deletions` has Jobs whose deletion the cache does not show yet. */
export interface Caches {
  readonly jobs: Informer<Job>;
  readonly deletions: Deletions;
}

/** Undefined: the Job does not exist. */
export function gather({ jobs, deletions }: Caches, key: ObjectKey): Observed | undefined {
  const job = jobs.get(key);
  return job && { job: deletions.view(job) };
}
