import type { Pod } from "@causeway/kubernetes";
import { thousandths } from "./amounts.ts";
import type { Usage } from "./observed.ts";

/**
 * After its start a pod's processor use says little for this long, and readiness may waver for the shorter time. As
 * kube-controller-manager's defaults.
 */
const CPU_INITIALIZATION = 300_000;
const INITIAL_READINESS = 30_000;

/** Pods, by how they count for a metric: the number of ready ones, the names of all others. */
export interface Grouped {
  readonly ready: number;
  readonly unready: ReadonlySet<string>;
  /** Without a figure. */
  readonly missing: ReadonlySet<string>;
  /** Failed, or being deleted. */
  readonly ignored: ReadonlySet<string>;
}

/** Which pods count. Source: groupPods of k8s.io/kubernetes/pkg/controller/podautoscaler/replica_calculator.go. */
export function groupPods(
  pods: readonly Pod[],
  usage: ReadonlyMap<string, Usage>,
  { resource, now }: { readonly resource: string; readonly now: number },
): Grouped {
  const [unready, missing, ignored] = [new Set<string>(), new Set<string>(), new Set<string>()];
  let ready = 0;
  for (const pod of pods) {
    const { name, deletionTimestamp } = pod.metadata;
    const figure = usage.get(name);
    if (deletionTimestamp !== undefined || pod.status?.phase === "Failed") ignored.add(name);
    else if (pod.status?.phase === "Pending") unready.add(name);
    else if (!figure) missing.add(name);
    else if (resource === "cpu" && isSettling(pod, figure, now)) unready.add(name);
    else ready += 1;
  }
  return { ready, unready, missing, ignored };
}

/** Whether the processor use of a pod is that of its start. */
function isSettling({ status }: Pod, figure: Usage, now: number): boolean {
  const condition = status?.conditions?.find(({ type }) => type === "Ready");
  const started = Date.parse(String(status?.["startTime"] ?? ""));
  if (!condition || !Number.isFinite(started)) return true;
  const changed = Date.parse(condition.lastTransitionTime ?? "");
  if (started + CPU_INITIALIZATION > now) return condition.status === "False" || figure.time < changed + figure.window;
  return condition.status === "False" && started + INITIAL_READINESS > changed;
}

/** Pods that run and are ready. */
export function readyCount(pods: readonly Pod[]): number {
  return pods.filter(
    ({ status }) =>
      status?.phase === "Running" && status.conditions?.some((each) => each.type === "Ready" && each.status === "True"),
  ).length;
}

interface Container {
  readonly name: string;
  readonly restartPolicy?: string;
  readonly resources?: { readonly requests?: Readonly<Record<string, unknown>> };
}

/**
 * What a pod requests of a resource, in thousandths, of one container or of all; a text says which request is missing.
 */
export function requestOf(pod: Pod, resource: string, container: string): number | string {
  const init = (pod.spec["initContainers"] ?? []) as readonly Container[];
  const sidecars = init.filter(({ restartPolicy }) => restartPolicy === "Always");
  const whole = (pod.spec["resources"] as Container["resources"])?.requests?.[resource];
  if (container === "" && whole !== undefined) return thousandths(whole);
  const counted = [...(pod.spec.containers as readonly Container[]), ...sidecars].filter(
    ({ name }) => container === "" || name === container,
  );
  let sum = 0;
  for (const { name, resources } of counted) {
    const request = resources?.requests?.[resource];
    if (request === undefined)
      return `missing request for ${resource} in container ${name} of Pod ${pod.metadata.name}`;
    sum += thousandths(request);
  }
  return sum;
}
