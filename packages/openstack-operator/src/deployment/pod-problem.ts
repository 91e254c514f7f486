import type { ContainerStatus, Pod } from "@causeway/kubernetes";
import { labels } from "../model/names.ts";
import { shownText } from "./shown-text.ts";

/**
 * What keeps the first pod of a component that is not ready from it, in the words of kubelet and scheduler, without the
 * secrets; undefined: nothing is reported.
 */
export function podProblem(
  pods: readonly Pod[],
  component: string,
  secrets: readonly string[] = [],
): string | undefined {
  const own = pods.filter(({ metadata }) => metadata.labels?.[labels.component] === component);
  const sorted = own.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  for (const pod of sorted) {
    const problem = problemOf(pod);
    if (problem !== undefined) return `pod ${pod.metadata.name}: ${shownText(problem, secrets)}`;
  }
  return undefined;
}

/** A container of a component that ended with an error, in its own words where it left some, without the secrets. */
export function containerFailure(
  pods: readonly Pod[],
  component: string,
  secrets: readonly string[] = [],
): string | undefined {
  const failures = pods.flatMap(({ metadata, status }) => {
    if (metadata.labels?.[labels.component] !== component || metadata.deletionTimestamp !== undefined) return [];
    const problem = (status?.containerStatuses ?? []).map(containerProblem).find((each) => each !== undefined);
    return problem === undefined ? [] : [`pod ${metadata.name}: ${shownText(problem, secrets)}`];
  });
  return failures.toSorted()[0];
}

function problemOf({ spec, status, metadata }: Pod): string | undefined {
  if (!status || metadata.deletionTimestamp !== undefined || status.phase === "Succeeded") return undefined;
  const { conditions = [], initContainerStatuses = [], containerStatuses = [] } = status;
  const scheduled = conditions.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False") return scheduled.message ?? scheduled.reason ?? "not scheduled";
  const problem = [...initContainerStatuses, ...containerStatuses]
    .map(containerProblem)
    .find((each) => each !== undefined);
  const isReady = conditions.find(({ type }) => type === "Ready")?.status !== "False";
  // A pod of a Job has none: it is not ready while it ends.
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const isProbed = containers.some((container) => container["readinessProbe"] !== undefined);
  return problem ?? (isProbed && !isReady && status.phase === "Running" ? "its probe fails" : undefined);
}

interface Ended {
  readonly terminated?: { readonly exitCode: number; readonly message?: string };
}

function containerProblem({ name, state, ready, ...rest }: ContainerStatus): string | undefined {
  const waiting = state?.waiting as { reason?: string; message?: string } | undefined;
  const lastState = rest["lastState"] as Ended | undefined;
  const starts = ["PodInitializing", "ContainerCreating"];
  // What a program said when it ended says more than that the kubelet waits to start it again.
  const hasSaid = lastState?.terminated?.message !== undefined;
  if (waiting && !hasSaid && !starts.includes(waiting.reason ?? ""))
    return `container ${name}: ${[waiting.reason, waiting.message].filter(Boolean).join(": ")}`;
  const ended: Ended["terminated"] = state?.terminated ?? lastState?.terminated;
  const exit = ended?.exitCode;
  if (exit === undefined || exit === 0 || ready) return undefined;
  const said = ended?.message === undefined ? "" : `: ${ended.message}`;
  return `container ${name} exited with status ${exit}${said}`;
}
