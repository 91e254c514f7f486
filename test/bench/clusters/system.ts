import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { causeway, type Started } from "../../support/processes.ts";
import { widenPublicNetwork } from "../wide-network.ts";
import { withoutLimits } from "./projects.ts";
import { costOf, proportionalMiB, type Cost } from "../apiserver/subject.ts";

const READY = 60_000;
/** `causeway up` in a process of its own: management, tenants, controllers, the simulated cloud and its machines. */
export interface WholeSystem {
  /** The process that runs the controllers and the management API. */
  readonly pid: number;
  readonly client: KubernetesClient;
  /** For the clusters' credentials. */
  readonly cloudsYaml: string;
  /** Of the process and all below it; memory that several share is counted once. */
  cost(): Cost;
  /** Processes, the first included. */
  processes(): number;
  close(): Promise<void>;
}

/**
 * Starts it on a new folder in `base`, with a cloud that has room for a thousand clusters in its project, with more
 * arguments of `causeway up`.
 */
export async function startWhole(base: string, more: readonly string[] = []): Promise<WholeSystem> {
  const state = mkdtempSync(join(base, "state-"));
  const args = ["up", "--state", state, "--advertise-address", "127.0.0.1", "--log-level", "warn", ...more];
  const system: Started = causeway(args, { installed: true });
  const close = async (): Promise<void> => {
    await system.stop("SIGKILL");
    rmSync(state, { recursive: true, force: true });
  };
  try {
    await system.until(/management API \S+\n/, READY);
    const cloudsYaml = readFileSync(join(state, "clouds.yaml"), "utf8");
    await Promise.all([withoutLimits(cloudsYaml, "demo"), widenPublicNetwork(cloudsYaml)]);
    const client = createClient(loadKubeconfig({ path: join(state, "management.kubeconfig") }), { userAgent: "bench" });
    const family = (): { pid: number }[] => familyOf(system.child.pid ?? 0).map((pid) => ({ pid }));
    return {
      pid: system.child.pid ?? 0,
      client,
      cloudsYaml,
      cost: () => ({ ...costOf({ processes: family() }), memoryMiB: proportionalMiB(family()) }),
      processes: () => family().length,
      async close() {
        await client.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A process and all below it that run. */
export function familyOf(root: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(name);
    if (parent !== undefined) parents.set(Number(name), parent);
  }
  const family = [root];
  for (const pid of family) for (const [child, parent] of parents) if (parent === pid) family.push(child);
  return family;
}

function parentOf(pid: string): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "");
    return Number(fields.split(" ")[1]);
  } catch {
    return undefined;
  }
}
