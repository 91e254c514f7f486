import { array, at, record, text, type Json } from "../json/json.ts";

/** Processor in billionths of one, memory in bytes. */
export interface Amount {
  readonly cpu: number;
  readonly memory: number;
}

/** What a node or a container used at one moment. */
export interface Sample {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly amount: Amount;
}

/** What one kubelet says that its node and the containers on it use. */
export interface Summary {
  readonly node: Sample | undefined;
  /** By "namespace/name" of the pod, then by container. */
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, Sample>>;
}

/** The names of the containers that run in a pod on the node; none where the node has no such pod. */
export type RunningOf = (namespace: string, name: string) => readonly string[];

/** More pods than a node has. */
const MOST_PODS = 1000;

/**
 * Reads a kubelet's /stats/summary. What lacks a figure is left out: a container that just started has no rate yet. A
 * tenant may run the kubelet: of its answer only what `runningOf` knows is kept, so that it holds no more memory than
 * the pods that are stored.
 */
export function readSummary(answer: unknown, runningOf: RunningOf): Summary {
  const pods = new Map<string, ReadonlyMap<string, Sample>>();
  for (const pod of array(record(answer)["pods"]).slice(0, MOST_PODS)) {
    const [namespace, name] = [text(at(pod, "podRef", "namespace")), text(at(pod, "podRef", "name"))];
    const running = new Set(runningOf(namespace, name));
    const containers = new Map<string, Sample>();
    for (const container of running.size === 0 ? [] : array(record(pod)["containers"])) {
      const sample = sampleOf(record(container));
      const own = text(record(container)["name"]);
      if (sample && running.has(own)) containers.set(own, sample);
    }
    if (containers.size > 0) pods.set(`${namespace}/${name}`, containers);
  }
  return { node: sampleOf(record(record(answer)["node"])), pods };
}

function sampleOf(stats: Json): Sample | undefined {
  const cpu = at(stats, "cpu", "usageNanoCores");
  const memory = at(stats, "memory", "workingSetBytes");
  const time = Date.parse(text(at(stats, "cpu", "time")));
  if (typeof cpu !== "number" || typeof memory !== "number" || !Number.isFinite(time)) return undefined;
  return { time, amount: { cpu, memory } };
}
