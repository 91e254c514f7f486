import type { Informer, Job, ObjectKey } from "@causeway/kubernetes";
import type { Deletions } from "../objects/deletions.ts";

export interface Observed {
  readonly job: Job;
}

export interface Caches {
  readonly jobs: Informer<Job>;
  readonly deletions: Deletions;
}

export function gather({ jobs, deletions }: Caches, key: ObjectKey): Observed | undefined {
  const job = jobs.get(key);
  return job && { job: deletions.view(job) };
}
