import { Pod, type Informer, type KubernetesClient, type ObjectKey } from "@causeway/kubernetes";
import type { Clock } from "@causeway/foundation";
import type { Autoscaler } from "./autoscaler.ts";
import { readMetric, readPodMetrics, type PodList } from "./metrics.ts";
import type { MeasuredMetric, Observed } from "./observed.ts";
import { PERIOD } from "./plan.ts";
import type { Remembered } from "./remembered.ts";
import { readScale } from "./scale-target.ts";

/** What gather reads; `client` reads scales, pods and metrics, `remembered` keeps them for a period. */
export interface Caches {
  readonly autoscalers: Informer<Autoscaler>;
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly remembered: Remembered;
}

/**
 * What the plan needs; scale, pods and metrics are read at most once in a period, and after a change of the autoscaler.
 */
export async function gather(caches: Caches, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const { autoscalers, clock, remembered } = caches;
  const autoscaler = autoscalers.get(key);
  if (!autoscaler) {
    remembered.forget(key);
    return undefined;
  }
  const { metadata } = autoscaler;
  const known = remembered.find(key);
  // The API keeps no generation of autoscalers.
  const epoch = JSON.stringify(autoscaler.spec);
  const isFresh = known && known.uid === metadata.uid && known.epoch === epoch;
  if (known && isFresh && clock.now() < known.observed.at + PERIOD) return { ...known.observed, autoscaler };
  const observed = await read(caches, { key, autoscaler }, signal);
  remembered.keep(key, { uid: metadata.uid, epoch, observed });
  return observed;
}

async function read(
  { client, clock, remembered, autoscalers }: Caches,
  { key, autoscaler }: { readonly key: ObjectKey; readonly autoscaler: Autoscaler },
  signal: AbortSignal,
): Promise<Observed> {
  const at = clock.now();
  const { namespace } = key;
  const memory = remembered.memory(key, at);
  const scale = await readScale(client, autoscaler, signal);
  const none = { autoscaler, at, scale, memory, pods: [], rivals: [], readings: [] };
  // Where the metrics do not decide the size, they are not requested.
  if (typeof scale === "string" || scale.selector === "" || !isForMetrics(autoscaler, scale.replicas)) {
    remembered.claim(key, [], () => false);
    return none;
  }
  const labelSelector = scale.selector;
  const { items: pods } = await client.list(Pod, { namespace, labelSelector, signal });
  const rivals = remembered.claim(
    key,
    pods.map(({ metadata }) => metadata.uid ?? metadata.name),
    (other) => autoscalers.get(other) !== undefined,
  );
  const place = { client, namespace, selector: labelSelector, signal };
  const specs = autoscaler.spec.metrics ?? [];
  const isOfPods = specs.some(({ type }) => type === "Resource" || type === "ContainerResource");
  const list: PodList = isOfPods ? await readPodMetrics(place) : [];
  const readings: MeasuredMetric[] = [];
  for (const spec of specs) readings.push({ spec, reading: await readMetric(place, spec, list) });
  return { ...none, pods, rivals, readings };
}

function isForMetrics({ spec }: Autoscaler, replicas: number): boolean {
  const least = spec.minReplicas ?? 1;
  if (replicas === 0) return least === 0;
  return replicas >= least && replicas <= spec.maxReplicas;
}
