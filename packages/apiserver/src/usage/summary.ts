import { array, at, record, text, type Json } from "../json/json.ts";

/** Processor in billionths of one, memory in bytes. */
export interface Amount {
  readonly cpu: number;
  readonly memory: number;
}

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

/** Reads a kubelet's /stats/summary. What lacks a figure is left out: a container that just started has no rate yet. */
export function readSummary(answer: unknown): Summary {
  const pods = new Map<string, ReadonlyMap<string, Sample>>();
  for (const pod of array(record(answer)["pods"])) {
    const name = `${text(at(pod, "podRef", "namespace"))}/${text(at(pod, "podRef", "name"))}`;
    const containers = new Map<string, Sample>();
    for (const container of array(record(pod)["containers"])) {
      const sample = sampleOf(record(container));
      if (sample) containers.set(text(record(container)["name"]), sample);
    }
    pods.set(name, containers);
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
