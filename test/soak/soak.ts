import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { startSimulator, type Fault } from "@causeway/simulator";
import { seeded } from "@causeway/foundation/testing";
import { digestOf } from "./digest.ts";
import type { WatcherReport } from "./watcher.ts";

export interface SoakOptions {
  /** How many ports there are at any time. */
  readonly objects: number;
  readonly rounds: number;
  /** Milliseconds of changes in each round, after which the watcher must come to rest. */
  readonly changing: number;
  /** Milliseconds from one list to the next. */
  readonly interval: number;
  /** What part of the watcher's calls fail. */
  readonly failing: number;
  readonly seed: number;
  readonly onRound?: (round: SoakRound) => void;
}

export interface SoakRound extends WatcherReport {
  readonly changes: number;
  readonly faults: number;
  /** Seconds from the round's begin until the watcher knew all. */
  readonly seconds: number;
  /** The cache and the events both say what is in the cloud. */
  readonly complete: boolean;
}

/** What goes wrong. */
const faults: readonly Fault[] = [
  { when: "before", status: 500 },
  { when: "before", status: 503 },
  { when: "before", status: 429, headers: { "retry-after": "1" } },
  { when: "before", status: 401 },
  { when: "before", cut: true },
  { when: "after", cut: true },
];

/**
 * Informers in a process of their own over ports that a second client changes, deletes and recreates, while calls fail.
 */
export async function soak(options: SoakOptions): Promise<SoakRound[]> {
  const state = mkdtempSync(join(tmpdir(), "causeway-soak-"));
  const simulator = await startSimulator({ profile: "instant" });
  const random = seeded(options.seed);
  let broken = 0;
  // A watcher whose first request fails ends, as it should: faults begin when the watcher runs.
  let started = false;
  simulator.setFaults((call) => {
    if (!started || !call.userAgent.startsWith("soak-watcher") || random() > options.failing) return undefined;
    broken++;
    return faults[Math.floor(random() * faults.length)];
  });
  simulator.setQuota("demo", "port", -1);
  const clouds = join(state, "clouds.yaml");
  writeFileSync(clouds, simulator.cloudsYaml, { mode: 0o600 });
  const cloud = connectCloud(loadCloudsYaml({ path: clouds, cloud: "simulator" }), {
    budget: { rate: 1000, burst: 1000 },
  });
  const watcher = startWatcher(clouds, options.interval);
  try {
    await watcher.report();
    started = true;
    const ports = await Ports.fill(cloud, options.objects);
    const rounds: SoakRound[] = [];
    for (let i = 0; i < options.rounds; i++) {
      const begun = performance.now();
      await ports.change(options.changing, random);
      const report = await settled(watcher, ports, begun);
      const round = { ...report, changes: ports.changes, faults: broken };
      options.onRound?.(round);
      rounds.push(round);
    }
    return rounds;
  } finally {
    await watcher.close();
    await cloud.close();
    await simulator.close();
    rmSync(state, { recursive: true });
  }
}

/** What is in the cloud, as its only writer knows. */
class Ports {
  readonly names = new Map<string, string>();
  changes = 0;
  readonly #cloud: Cloud;
  readonly #network: string;
  /** Neutron's own, such as the one for DHCP and metadata. */
  readonly #others = new Set<string>();

  private constructor(cloud: Cloud, network: string) {
    this.#cloud = cloud;
    this.#network = network;
  }

  static async fill(cloud: Cloud, count: number): Promise<Ports> {
    const network = await cloud.network.networks.create({ name: "soak" });
    const ports = new Ports(cloud, network.id);
    for (const port of await cloud.network.ports.all()) {
      ports.names.set(port.id, port.name);
      ports.#others.add(port.id);
    }
    const body = (i: number) => ({ name: `port-${i}`, network_id: network.id });
    for (let at = ports.names.size; at < count; at += 250) {
      const made = await cloud.network.createPorts(
        Array.from({ length: Math.min(250, count - at) }, (_, i) => body(at + i)),
      );
      for (const port of made) ports.names.set(port.id, port.name);
    }
    return ports;
  }

  async change(milliseconds: number, random: () => number): Promise<void> {
    const end = performance.now() + milliseconds;
    while (performance.now() < end) {
      const ids = [...this.names.keys()].filter((id) => !this.#others.has(id));
      const picked = Array.from({ length: 8 }, () => ids[Math.floor(random() * ids.length)] ?? "");
      await Promise.all([...new Set(picked)].map((id) => (random() < 0.1 ? this.#replace(id) : this.#rename(id))));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async #rename(id: string): Promise<void> {
    const name = `renamed-${++this.changes}`;
    await this.#cloud.network.ports.update(id, { name });
    this.names.set(id, name);
  }

  /** One goes, and another of the same name comes. */
  async #replace(id: string): Promise<void> {
    const name = this.names.get(id) ?? "";
    this.changes += 2;
    await this.#cloud.network.ports.delete(id);
    this.names.delete(id);
    const port = await this.#cloud.network.ports.create({ name, network_id: this.#network });
    this.names.set(port.id, name);
  }
}

interface Watcher {
  report(): Promise<WatcherReport>;
  close(): Promise<void>;
}

function startWatcher(clouds: string, interval: number): Watcher {
  const env = { ...process.env, OS_CLIENT_CONFIG_FILE: clouds, OS_CLOUD: "simulator" };
  const program = join(import.meta.dirname, "watcher.ts");
  const child = spawn(process.execPath, [program, String(interval)], { env, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  return {
    async report() {
      child.stdin.write("report\n");
      const line = await lines.next();
      if (line.done === true) throw new Error("the watcher has ended");
      return JSON.parse(line.value) as WatcherReport;
    },
    async close() {
      child.stdin.end();
      const limit = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await ended;
      clearTimeout(limit);
    },
  };
}

/** Asks until the watcher knows all, two minutes at most. */
async function settled(watcher: Watcher, ports: Ports, begun: number): Promise<Omit<SoakRound, "changes" | "faults">> {
  const truth = digestOf(ports.names);
  const limit = performance.now() + 120_000;
  for (;;) {
    const report = await watcher.report();
    const complete = report.cache === truth && report.events === truth;
    const seconds = (performance.now() - begun) / 1000;
    if (complete || performance.now() > limit) return { ...report, complete, seconds };
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
