import type { Job, JobStatus, Pod } from "@causeway/kubernetes";
import { plan } from "../job/plan.ts";
import { failureCountAnnotation, indexAnnotation, trackingFinalizer } from "../job/pod-facts.ts";
import { at, now, pod as basicPod, type PodFacts } from "./objects.ts";

/** Jobs and their pods for the tables of planner tests. */

export const job = (spec: Partial<Job["spec"]> = {}, status?: JobStatus): Job => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "work", namespace: "default", uid: "job" },
  spec: {
    parallelism: 2,
    completions: 3,
    backoffLimit: 2,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "work" }] } },
    ...spec,
  },
  ...(status ? { status } : {}),
});
export const pod = (
  name: string,
  facts: PodFacts & { index?: number; tracked?: boolean; failures?: number; code?: number } = {},
): Pod => {
  const { index, tracked = true, failures, code = 1 } = facts;
  const base = basicPod(name, { owner: job(), ...facts });
  const ended = { terminated: { exitCode: facts.phase === "Failed" ? code : 0, finishedAt: at(1_000) } };
  const over = facts.phase === "Failed" || facts.phase === "Succeeded";
  return {
    ...base,
    metadata: {
      ...base.metadata,
      ...(tracked ? { finalizers: [trackingFinalizer] } : {}),
      annotations: {
        ...(index === undefined ? {} : { [indexAnnotation]: String(index) }),
        ...(failures === undefined ? {} : { [failureCountAnnotation]: String(failures) }),
      },
    },
    status: { ...base.status, containerStatuses: [{ name: "work", ...(over ? { state: ended } : {}) }] },
  };
};
export const planned = (object: Job, pods: readonly Pod[] = []) =>
  plan({ key: { namespace: "default", name: "work" }, job: object, pods, orphans: [], strays: [] }, now);
export const failed: PodFacts = { phase: "Failed" };
export const done: PodFacts = { phase: "Succeeded" };
