import type { Container, Job, Pod } from "@causeway/kubernetes";
import { podFromTemplate } from "../objects/pod-template.ts";
import {
  countOf,
  failureCountAnnotation,
  ignoredFailureCountAnnotation,
  indexAnnotation,
  trackingFinalizer,
} from "./pod-facts.ts";
import type { PodOrder } from "./steps.ts";
import { isIgnored } from "./tally.ts";

const VARIABLE = "JOB_COMPLETION_INDEX";

/** The pod of an order. `known`: the pods of the Job, of which one may be the failed pod that the order names. */
export function newPod(job: Job, { index, failed }: PodOrder, known: readonly Pod[]): Pod {
  const pod = podFromTemplate(job, job.spec.template);
  const finalizers = [...new Set([...(pod.metadata.finalizers ?? []), trackingFinalizer])];
  if (index === undefined) return { ...pod, metadata: { ...pod.metadata, finalizers } };
  const { metadata, spec } = pod;
  const { name } = job.metadata;
  return {
    ...pod,
    metadata: {
      ...metadata,
      finalizers,
      generateName: `${name}-${index}-`,
      labels: { ...metadata.labels, [indexAnnotation]: String(index) },
      annotations: {
        ...metadata.annotations,
        [indexAnnotation]: String(index),
        ...(job.spec.backoffLimitPerIndex === undefined ? {} : failureCounts(job, podOf(known, failed))),
      },
    },
    spec: {
      ...spec,
      hostname: `${name}-${index}`,
      containers: spec.containers.map(withIndex),
      ...(spec.initContainers ? { initContainers: spec.initContainers.map(withIndex) } : {}),
    },
  };
}

function podOf(known: readonly Pod[], uid: string | undefined): Pod | undefined {
  return uid === undefined ? undefined : known.find(({ metadata }) => metadata.uid === uid);
}

function failureCounts(job: Job, lastFailed: Pod | undefined): Record<string, string> {
  const ignored = lastFailed !== undefined && isIgnored(job, lastFailed);
  const failures = lastFailed ? countOf(lastFailed, failureCountAnnotation) + (ignored ? 0 : 1) : 0;
  const ignoredFailures = lastFailed ? countOf(lastFailed, ignoredFailureCountAnnotation) + (ignored ? 1 : 0) : 0;
  return {
    [failureCountAnnotation]: String(failures),
    ...(ignoredFailures > 0 ? { [ignoredFailureCountAnnotation]: String(ignoredFailures) } : {}),
  };
}

function withIndex(container: Container): Container {
  if (container.env?.some(({ name }) => name === VARIABLE)) return container;
  const fieldRef = { fieldPath: `metadata.labels['${indexAnnotation}']` };
  return { ...container, env: [...(container.env ?? []), { name: VARIABLE, valueFrom: { fieldRef } }] };
}
