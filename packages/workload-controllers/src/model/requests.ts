import { addAmounts, amounts, largerAmounts, type Amounts } from "./quantity.ts";
import type { SchedulingContainer, SchedulingSpec } from "./spec.ts";

/** What a container without a request counts for where nodes are scored: 0.1 CPU and 200 MiB. */
const assumedRequests: Amounts = { cpu: 100, memory: 200 * 2 ** 20 };

/** Resources that a pod may request as a whole. */
function isPodLevel(name: string): boolean {
  return name === "cpu" || name === "memory" || name.startsWith("hugepages-");
}

/**
 * What a pod needs of a node: its containers and sidecars together, or the largest of its init containers with the
 * sidecars that are started before it, if that is more; what the pod requests as a whole wins; overhead comes on top.
 * @see https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers
 */
export function podRequests(spec: SchedulingSpec): Amounts {
  return requestsWith(spec, (container) => amounts(container.resources?.requests));
}

/** The same where every container counts for a little at least. */
export function scoredRequests(spec: SchedulingSpec): Amounts {
  return requestsWith(spec, (container) => ({ ...assumedRequests, ...amounts(container.resources?.requests) }));
}

function requestsWith(spec: SchedulingSpec, requestsOf: (container: SchedulingContainer) => Amounts): Amounts {
  let running: Amounts = {};
  for (const container of spec.containers) running = addAmounts(running, requestsOf(container));
  let sidecars: Amounts = {};
  let starting: Amounts = {};
  for (const container of spec.initContainers ?? []) {
    const own = requestsOf(container);
    if (container.restartPolicy === "Always") {
      sidecars = addAmounts(sidecars, own);
      starting = largerAmounts(starting, sidecars);
    } else starting = largerAmounts(starting, addAmounts(own, sidecars));
  }
  const needed = largerAmounts(addAmounts(running, sidecars), starting);
  const whole = Object.entries(amounts(spec.resources?.requests)).filter(([name]) => isPodLevel(name));
  return addAmounts({ ...needed, ...Object.fromEntries(whole) }, amounts(spec.overhead));
}
