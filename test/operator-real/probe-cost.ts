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
