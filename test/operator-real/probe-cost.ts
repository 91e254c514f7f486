/** Processor time of the resident probers, as the kernel counts it for their containers. */
import { globSync, readFileSync } from "node:fs";
import { NAME } from "./cloud.ts";
import type { Rig } from "./rig.ts";

const PROBER = "prober";

interface Pods {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly initContainers?: readonly { readonly name: string }[] };
  }[];
}

/** Seconds of a processor that all probers have used since they started, and how many there are. */
export async function probersUsed(rig: Rig): Promise<{ seconds: number; probers: number }> {
  const { items } = rig.get<Pods>("pods", "-l", `openstack.causeway.dev/deployment=${NAME}`);
  const pods = items.filter(({ spec }) => spec.initContainers?.some(({ name }) => name === PROBER));
  const used: number[] = [];
  for (const { metadata } of pods)
    for (const machine of rig.machines) {
      const container = await machine.container(metadata.name, PROBER);
      if (container === undefined) continue;
      const [file] = globSync(`/sys/fs/cgroup/cpuacct${machine.place.cgroup}/**/*${container.id}/cpuacct.usage`);
      if (file === undefined) throw new Error(`no cgroup of container ${container.id}`);
      used.push(Number(readFileSync(file, "utf8")));
    }
  return { seconds: used.reduce((sum, each) => sum + each, 0) / 1e9, probers: used.length };
}

interface Probe {
  readonly exec?: { readonly command: readonly string[] };
  readonly periodSeconds: number;
}
interface Probed {
  readonly name: string;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
}
interface ProbedPods {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly containers: readonly Probed[]; readonly initContainers?: readonly Probed[] };
  }[];
}

/** What a command used, in seconds of the user's and the system's time; it is no failure if it fails. */
const MEASURED = 'TIMEFORMAT="%U %S"; { time "$@" >/dev/null 2>&1; } 2>&1; true';

/**
 * The share of a processor that the commands of all probes use at the rate of the kubelets, by running each of them
 * once. What the runtime itself uses to start them is not in it.
 */
export async function commandsUse(rig: Rig): Promise<{ share: number; perMinute: number; commands: number }> {
  const { items } = rig.get<ProbedPods>("pods", "-l", `openstack.causeway.dev/deployment=${NAME}`);
  const found = { share: 0, perMinute: 0, commands: 0 };
  for (const { metadata, spec } of items)
    for (const { name, readinessProbe, livenessProbe } of [...spec.containers, ...(spec.initContainers ?? [])])
      for (const { exec, periodSeconds } of [readinessProbe, livenessProbe].filter((probe) => probe !== undefined)) {
        if (exec === undefined) continue;
        const said = await rig.inContainer(metadata.name, name, "bash", "-c", MEASURED, "probe", ...exec.command);
        const [user = NaN, system = NaN] = (/([\d.]+) ([\d.]+)\s*$/.exec(said)?.slice(1) ?? []).map(Number);
        found.share += (user + system) / periodSeconds;
        found.perMinute += 60 / periodSeconds;
        found.commands += 1;
      }
  return found;
}
