import { isRecord, record, records, type Json } from "../../json/json.ts";
import { fill, type Rules } from "./rule.ts";

/** The object at a field, made when there is none. */
function within(value: Json, name: string): Json {
  const inner = isRecord(value[name]) ? value[name] : {};
  value[name] = inner;
  return inner;
}

function fillRolling(strategy: Json, values: Json): void {
  strategy["type"] ??= "RollingUpdate";
  if (strategy["type"] === "RollingUpdate") fill(values)(within(strategy, "rollingUpdate"));
}

function fillStatefulSet(spec: Json): void {
  const strategy = within(spec, "updateStrategy");
  if (strategy["type"] === undefined) {
    strategy["type"] = "RollingUpdate";
    within(strategy, "rollingUpdate");
  }
  if (strategy["type"] === "RollingUpdate" && isRecord(strategy["rollingUpdate"])) {
    strategy["rollingUpdate"]["partition"] ??= 0;
  }
  fill({ whenDeleted: "Retain", whenScaled: "Retain" })(within(spec, "persistentVolumeClaimRetentionPolicy"));
  fill({ podManagementPolicy: "OrderedReady", replicas: 1, revisionHistoryLimit: 10 })(spec);
  for (const claim of records(spec["volumeClaimTemplates"]))
    fill({ kind: "PersistentVolumeClaim", apiVersion: "v1" })(claim);
}

/** The labels of its pods are a job's own, if it has none. */
export function fillJobLabels(job: Json): void {
  const { labels } = record(record(record(job["spec"])["template"])["metadata"]);
  const metadata = record(job["metadata"]);
  if (isRecord(labels) && Object.keys(record(metadata["labels"])).length === 0) metadata["labels"] = { ...labels };
}

/** Counts the changes of a DaemonSet's template; in the type that is stored it is a field. */
export const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

const MOST = 2 ** 31 - 1;

function fillJobSpec(spec: Json): void {
  if (spec["completions"] === undefined && spec["parallelism"] === undefined) spec["completions"] = 1;
  spec["parallelism"] ??= 1;
  spec["backoffLimit"] ??= spec["backoffLimitPerIndex"] === undefined ? 6 : MOST;
  spec["podReplacementPolicy"] ??= spec["podFailurePolicy"] === undefined ? "TerminatingOrFailed" : "Failed";
  fill({ completionMode: "NonIndexed", suspend: false, manualSelector: false })(spec);
}

/** Defaults of the groups apps and batch. */
export const WORKLOAD_DEFAULTS: Rules = {
  "apps.DeploymentSpec"(spec) {
    fill({ replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 })(spec);
    fillRolling(within(spec, "strategy"), { maxUnavailable: "25%", maxSurge: "25%" });
  },
  "apps.DaemonSet"(set) {
    const metadata = within(set, "metadata");
    metadata["annotations"] = { [TEMPLATE_GENERATION]: "0", ...record(metadata["annotations"]) };
  },
  "apps.DaemonSetSpec"(spec) {
    fill({ revisionHistoryLimit: 10 })(spec);
    fillRolling(within(spec, "updateStrategy"), { maxUnavailable: 1, maxSurge: 0 });
  },
  "apps.StatefulSetSpec": fillStatefulSet,
  "apps.ReplicaSetSpec": fill({ replicas: 1 }),
  "batch.Job"(job) {
    fillJobLabels(job);
    fillJobSpec(within(job, "spec"));
  },
  "batch.CronJobSpec": fill({
    concurrencyPolicy: "Allow",
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  }),
  "batch.PodFailurePolicyOnPodConditionsPattern": fill({ status: "True" }),
};
