/**
 * The stage of crash tests: a cloud simulated in the test's process, and the system as a child that takes it for a real
 * one.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cluster } from "@causeway/api";
import { silentLog, systemClock } from "@causeway/foundation";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { fileIdentity, runMachine, runMachineAgent } from "@causeway/machine-agent";
import { startSimulator, type CallRecord, type Simulator } from "@causeway/simulator";
import { TIMEOUT, causeway, eventually, type Started } from "./processes.ts";

export const demo = { namespace: "default", name: "demo" } as const;

export interface StageOptions {
  /** A folder of an earlier stage (see `keep`) to continue from. */
  readonly from?: string;
}

export interface Stage {
  readonly dir: string;
  readonly simulator: Simulator;
  /** What the project had before any demo. */
  readonly before: readonly string[];
  /** Starts the system in a process of its own, on this cloud; the arguments are `--demo` unless given. */
  up(...args: readonly string[]): Started;
  /** Of the system that was started last. */
  pid(): number | undefined;
  /** What the project has now, without ids and random suffixes. */
  inventory(): readonly string[];
  /** A client of the management cluster of the system that runs now. The caller closes it. */
  client(): KubernetesClient;
  /** Ends the cloud and the machines; the folder remains with `keep`. */
  close(options?: { readonly keep?: boolean }): Promise<void>;
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const dir = mkdtempSync(join(tmpdir(), "causeway-stage-"));
  if (options.from !== undefined) cpSync(options.from, dir, { recursive: true });
  const simulator = await startSimulator({ dir: join(dir, "cloud") });
  const cloudsYaml = join(dir, "clouds.yaml");
  writeFileSync(cloudsYaml, simulator.cloudsYaml, { mode: 0o600 });
  const stopping = new AbortController();
  const machines = playMachines(simulator, join(dir, "machines"), stopping.signal);
  const started: Started[] = [];
  const beforeFile = join(dir, "before.json");
  if (!existsSync(beforeFile)) writeFileSync(beforeFile, JSON.stringify(simulator.inventory("demo")));
  return {
    dir,
    simulator,
    before: JSON.parse(readFileSync(beforeFile, "utf8")) as string[],
    up(...args) {
      const state = join(dir, "state");
      const all = ["up", "--cloud", "simulator", "--advertise-address", "127.0.0.1", "--state", state];
      const process = causeway([...all, ...(args.length > 0 ? args : ["--demo"])], {
        env: { OS_CLIENT_CONFIG_FILE: cloudsYaml },
      });
      started.push(process);
      return process;
    },
    pid: () => started.at(-1)?.child.pid,
    inventory: () => normalised(simulator.inventory("demo")),
    client: () => createClient(loadKubeconfig({ path: join(dir, "state", "management.kubeconfig") })),
    async close({ keep = false } = {}) {
      simulator.setFaults(undefined);
      for (const process of started) await process.stop("SIGKILL");
      stopping.abort();
      await machines;
      await simulator.close();
      if (!keep) rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function playMachines(simulator: Simulator, dir: string, signal: AbortSignal): Promise<void> {
  const using = { clock: systemClock, log: silentLog };
  await runMachineAgent(
    {
      source: { machines: async () => simulator.machines() },
      launch: (machine, stop) => runMachine(machine, { ...using, identity: fileIdentity(join(dir, machine.id)) }, stop),
      interval: 100,
      ...using,
    },
    signal,
  );
}

/** Inventory lines without ids and random suffixes, sorted: equal for two runs that made the same. */
export function normalised(lines: readonly string[]): string[] {
  const id = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
  return lines
    .map((line) => line.replace(id, "ID").replace(/demo-workers-[a-z0-9]{5}-[a-z0-9]{5}/g, "demo-workers-SUFFIX"))
    .sort();
}

/** Waits until the project holds what `expected` lists; then, or after that many milliseconds, says what it holds. */
export async function settled(
  stage: Stage,
  expected: readonly string[],
  milliseconds = TIMEOUT,
): Promise<readonly string[]> {
  const deadline = Date.now() + milliseconds;
  while (Date.now() < deadline && JSON.stringify(stage.inventory()) !== JSON.stringify(expected))
    await new Promise((done) => setTimeout(done, 50));
  return stage.inventory();
}

/** Deletes the demo's Cluster, as `kubectl delete cluster demo` would, without waiting for its end. */
export async function deleteDemo(stage: Stage): Promise<void> {
  const client = stage.client();
  try {
    await client.delete(Cluster, demo);
  } finally {
    await client.close();
  }
}

/** Resolves when the demo's Cluster object is gone. */
export async function demoGone(stage: Stage, milliseconds = TIMEOUT): Promise<void> {
  const client = stage.client();
  try {
    await eventually(milliseconds, async () => (await client.find(Cluster, demo)) === undefined);
  } finally {
    await client.close();
  }
}

export const isWrite = (call: CallRecord): boolean =>
  call.method !== "GET" && call.method !== "HEAD" && call.service !== "identity";

/** "POST network/v2.0/ports", ids and queries left out. */
export function describeCall(call: CallRecord): string {
  const path = call.path.replace(/\?.*/, "").replace(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}/g, "ID");
  return `${call.method} ${call.service}${path}`;
}
