import type { CronJob, Informer, Job, ObjectKey } from "@causeway/kubernetes";
import { by } from "../objects/caches.ts";
import type { Deletions } from "../objects/deletions.ts";

export interface Observed {
  readonly cronJob: CronJob;
  /** Jobs that the CronJob controls and that are not being deleted. */
  readonly jobs: readonly Job[];
}

export interface Caches {
  readonly cronJobs: Informer<CronJob>;
  readonly jobs: Informer<Job>;
  readonly deletions: Deletions;
}

export function gather({ cronJobs, jobs, deletions }: Caches, key: ObjectKey): Observed | undefined {
  const cronJob = cronJobs.get(key);
  if (!cronJob) return undefined;
  const owned = deletions.remaining(jobs.byIndex(by.controller, cronJob.metadata.uid ?? ""));
  return { cronJob, jobs: owned.filter(({ metadata }) => metadata.deletionTimestamp === undefined) };
}
