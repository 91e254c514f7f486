import type { LabelSelector, WorkloadCondition } from "./apps.ts";
import type { ObjectReference, PodTemplateSpec } from "./core.ts";
import type { ObjectMeta, Resource, ResourceType } from "./meta.ts";

/** Wire types of batch/v1; unknown fields are kept. */

/** What a failed pod of a Job with these exit codes or conditions leads to. */
export interface PodFailurePolicyRule {
  action: "FailJob" | "FailIndex" | "Ignore" | "Count";
  onExitCodes?: { containerName?: string; operator: "In" | "NotIn"; values: number[] };
  onPodConditions?: { type: string; status?: "True" | "False" | "Unknown" }[];
}

/** When a Job has succeeded before all its pods have. */
export interface SuccessPolicyRule {
  succeededIndexes?: string;
  succeededCount?: number;
}

/** How many pods have to succeed, and how failures count. */
export interface JobSpec {
  parallelism?: number;
  completions?: number;
  activeDeadlineSeconds?: number;
  podFailurePolicy?: { rules: PodFailurePolicyRule[] };
  successPolicy?: { rules: SuccessPolicyRule[] };
  backoffLimit?: number;
  backoffLimitPerIndex?: number;
  maxFailedIndexes?: number;
  selector?: LabelSelector;
  manualSelector?: boolean;
  template: PodTemplateSpec;
  ttlSecondsAfterFinished?: number;
  completionMode?: "NonIndexed" | "Indexed";
  suspend?: boolean;
  podReplacementPolicy?: "TerminatingOrFailed" | "Failed";
  managedBy?: string;
}

/** How many pods run, succeeded and failed. */
export interface JobStatus {
  conditions?: WorkloadCondition[];
  startTime?: string;
  completionTime?: string;
  active?: number;
  ready?: number;
  terminating?: number;
  succeeded?: number;
  failed?: number;
  completedIndexes?: string;
  failedIndexes?: string;
  uncountedTerminatedPods?: { succeeded?: string[]; failed?: string[] };
}

/** batch/v1 Job. */
export type Job = Resource<JobSpec, JobStatus>;

/** The resource batch/v1, jobs, as clients and informers name it. */
export const Job: ResourceType<Job> = {
  group: "batch",
  version: "v1",
  kind: "Job",
  plural: "jobs",
  namespaced: true,
};

/** When Jobs are created, and from which template. */
export interface CronJobSpec {
  schedule: string;
  timeZone?: string;
  startingDeadlineSeconds?: number;
  concurrencyPolicy?: "Allow" | "Forbid" | "Replace";
  suspend?: boolean;
  jobTemplate: { metadata?: Partial<ObjectMeta>; spec: JobSpec };
  successfulJobsHistoryLimit?: number;
  failedJobsHistoryLimit?: number;
}

/** The Jobs that run, and when the last one was created. */
export interface CronJobStatus {
  active?: ObjectReference[];
  lastScheduleTime?: string;
  lastSuccessfulTime?: string;
}

/** batch/v1 CronJob. */
export type CronJob = Resource<CronJobSpec, CronJobStatus>;

/** The resource batch/v1, cronjobs. */
export const CronJob: ResourceType<CronJob> = {
  group: "batch",
  version: "v1",
  kind: "CronJob",
  plural: "cronjobs",
  namespaced: true,
};
