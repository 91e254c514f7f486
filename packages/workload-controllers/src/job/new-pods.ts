import type { Container, Job, Pod } from "@causeway/kubernetes";
import { podFromTemplate } from "../objects/pod-template.ts";
import {
  countOf,
  failureCountAnnotation,
  ignoredFailureCountAnnotation,
  indexAnnotation,
  trackingFinalizer,
} from "./pod-facts.ts";
import { isIgnored } from "./tally.ts";

const VARIABLE = "JOB_COMPLETION_INDEX";

/** A pod of the Job; `index`: its completion index. `lastFailed`: the pod of that index that failed before. */
export function newPod(job: Job, index?: number, lastFailed?: Pod): Pod {
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
        ...(job.spec.backoffLimitPerIndex === undefined ? {} : failureCounts(job, lastFailed)),
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
