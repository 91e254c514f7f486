import {
  isControlledBy,
  Job,
  type CronJob,
  type Informer,
  type KubernetesClient,
  type ObjectKey,
} from "@causeway/kubernetes";
import { by } from "../objects/caches.ts";
import type { Deletions } from "../objects/deletions.ts";

/** A CronJob and the Jobs that it controls. */
export interface Observed {
  readonly cronJob: CronJob;
  /** Jobs that the CronJob controls and that are not being deleted. */
  readonly jobs: readonly Job[];
  /** Jobs that the CronJob controls and that another client is deleting. */
  readonly leaving: readonly Job[];
}

/** What gather reads; `client` reads Jobs that the status lists and the cache lacks. */
export interface Caches {
  readonly cronJobs: Informer<CronJob>;
  readonly jobs: Informer<Job>;
  readonly deletions: Deletions;
  readonly client: KubernetesClient;
}

/** Undefined: the CronJob does not exist. */
export async function gather(
  { cronJobs, jobs, deletions, client }: Caches,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Observed | undefined> {
  const cronJob = cronJobs.get(key);
  if (!cronJob) return undefined;
  const owned = jobs.byIndex(by.controller, cronJob.metadata.uid ?? "");
  const known = new Set(owned.map(({ metadata }) => metadata.uid));
  const fetched: Job[] = [];
  // The cache may be late: the server has the last word on a Job that is missing.
  for (const { name = "", uid } of cronJob.status?.active ?? []) {
    if (known.has(uid)) continue;
    const job = await client.find(Job, { namespace: key.namespace, name }, { signal });
    if (job?.metadata.uid === uid && job && isControlledBy(job, cronJob)) fetched.push(job);
  }
  const found = deletions.remaining([...owned, ...fetched]);
  const isLeaving = ({ metadata }: Job): boolean => metadata.deletionTimestamp !== undefined;
  return { cronJob, jobs: found.filter((job) => !isLeaving(job)), leaving: found.filter(isLeaving) };
}
