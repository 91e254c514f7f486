import { isRecord } from "@causeway/foundation";
import type { KubeObject, Pod } from "@causeway/kubernetes";

/** Milliseconds after which the pods of an object that does not work are read again: it does not change with them. */
export const PODS_EVERY = 10_000;

const kinds: readonly string[] = ["Deployment", "DaemonSet", "StatefulSet"];

/** The selector of an object's pods, as a query takes it; undefined: it has none, or one that is more than labels. */
export function podsOf(object: KubeObject): string | undefined {
  if (!kinds.includes(object.kind)) return undefined;
  const { spec } = object as { readonly spec?: unknown };
  const selector = isRecord(spec) ? spec["selector"] : undefined;
  const labels = isRecord(selector) ? selector["matchLabels"] : undefined;
  if (!isRecord(labels)) return undefined;
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`);
  return pairs.length === 0 ? undefined : pairs.join(",");
}

/** Reasons of a container that waits which only say that something takes its time. */
const ordinary: readonly string[] = ["ContainerCreating", "PodInitializing"];
const LONGEST = 500;

/** The first cause that pods which are not ready give: a container that does not start, or no node that takes it. */
export function problemOfPods(pods: readonly Pod[]): string | undefined {
  for (const pod of pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)) {
    const cause = causeOf(pod);
    if (cause !== undefined) return `pod ${pod.metadata.name}: ${cause.replaceAll(/\s+/g, " ").slice(0, LONGEST)}`;
  }
  return undefined;
}

function causeOf({ status }: Pod): string | undefined {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  for (const { state } of containers) {
    const waiting = state?.waiting as { readonly reason?: string; readonly message?: string } | undefined;
    if (waiting?.reason === undefined || ordinary.includes(waiting.reason)) continue;
    return waiting.message ? `${waiting.reason}: ${waiting.message}` : waiting.reason;
  }
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  return scheduled?.status === "False" ? (scheduled.message ?? scheduled.reason) : undefined;
}
