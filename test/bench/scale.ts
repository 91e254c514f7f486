/**
 * Processes that share clusters, on a virtual clock: the real shards, queues, controllers and informers of clouds, with
 * played reconciles, servers and Leases. Prints OpenStack calls, time, queue latency, and the recovery after a process
 * was killed, for each number of clusters. `--clusters 100,1000,10000`, `--machines 10` of each cluster, `--replicas
 * 3`, `--clouds 4`, `--tenant 5` clusters that share a project, `--shards 64`; processor time of a reconcile in ms:
 * `--check 2`, `--change 40` (assumptions; `npm run bench -- cluster-api` measures the whole), `--json FILE`.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { ObjectKey } from "@causeway/kubernetes";
import { Leases } from "@causeway/kubernetes/testing";
import { Estate } from "./scale/estate.ts";
import { EventClock } from "./scale/event-clock.ts";
import { cacheMemory } from "./scale/memory.ts";
import { Record } from "./scale/record.ts";
import { Replica } from "./scale/replica.ts";

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    clusters: { type: "string", default: "100,1000,10000" },
    machines: { type: "string", default: "10" },
    replicas: { type: "string", default: "3" },
    clouds: { type: "string", default: "4" },
    tenant: { type: "string", default: "5" },
    shards: { type: "string", default: "64" },
    check: { type: "string", default: "2" },
    change: { type: "string", default: "40" },
  },
});
const number = (name: keyof typeof values): number => {
  const value = Number(values[name]);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} takes a number above 0`);
  return value;
};
const MINUTE = 60_000;

interface Figures {
  readonly calls: number;
  readonly callsPerSecondOfCloud: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly memoryMiB: number;
  readonly p50: number;
  readonly p99: number;
}

interface Row {
  readonly name: string;
  readonly ours: Figures;
}

async function simulate(clusters: number): Promise<Row[]> {
  const clock = new EventClock();
  const size = { clusters, machines: number("machines"), clouds: number("clouds"), clustersOfTenant: number("tenant") };
  const memoryMiB = cacheMemory(clusters, size.machines);
  const estate = new Estate(clock, size);
  const record = new Record(clock);
  const leases = new Leases();
  const costs = { check: number("check"), change: number("change") };
  const all = clusters * (1 + size.machines);
  const launch = (name: string) => {
    const replica = new Replica({ name, estate, leases, clock, costs, shards: number("shards"), record });
    replica.start();
    return replica;
  };
  const rows: Row[] = [];
  let replicas: Replica[] = [];
  /** Runs until the goal is reached, and notes what it took. */
  const row = async (name: string, limit: number, isReached: () => boolean) => {
    const calls = estate.total;
    const used = replicas.reduce((sum, { processor }) => sum + processor.used, 0);
    const begun = clock.now();
    await clock.run(limit, isReached);
    const seconds = (clock.now() - begun) / 1000;
    if (limit !== 60 * MINUTE && !isReached()) throw new Error(`${name}: not reached in ${seconds} s`);
    const made = estate.total - calls;
    rows.push({
      name: `${name}, ${clusters} clusters`,
      ours: {
        calls: made,
        callsPerSecondOfCloud: rounded(made / seconds / size.clouds),
        seconds: rounded(seconds),
        cpuSeconds: rounded((replicas.reduce((sum, { processor }) => sum + processor.used, 0) - used) / 1000),
        memoryMiB: Math.round(memoryMiB),
        p50: Math.round(record.latency(0.5)),
        p99: Math.round(record.latency(0.99)),
      },
    });
    record.reset();
  };
  replicas = Array.from({ length: number("replicas") }, (_, index) => launch(`replica-${index}`));
  await row(`start of ${replicas.length} processes`, 600 * MINUTE, () => record.doneCount >= all);
  await clock.run(10 * MINUTE);
  record.reset();
  await row("idle hour", 60 * MINUTE, () => false);

  const replaced = machinesOf(estate).filter((_, index) => index % 100 === 0);
  for (const key of replaced) {
    record.replace(key);
    for (const replica of replicas) replica.changed(key);
  }
  await row("1 % of the machines replaced at once", 600 * MINUTE, () => record.doneCount >= replaced.length);

  const [lost, ...others] = replicas;
  const moved = [...estate.tenants.values()].filter(({ namespace }) => lost?.shards.owns(namespace));
  const count = moved.reduce((sum, tenant) => sum + tenant.clusters.length + tenant.machines.length, 0);
  lost?.kill();
  replicas = others;
  await row("recovery after a process was killed", 600 * MINUTE, () => {
    if (record.doneCount < count) return false;
    return moved.every(({ namespace }) => others.some(({ shards }) => shards.owns(namespace)));
  });
  for (const replica of replicas) replica.kill();
  return rows;
}

function machinesOf({ tenants }: Estate): ObjectKey[] {
  return [...tenants.values()].flatMap(({ namespace, machines }) => machines.map((name) => ({ namespace, name })));
}

const rounded = (value: number): number => Number(value.toPrecision(3));

const rows: Row[] = [];
for (const clusters of values.clusters.split(",").map(Number)) {
  if (!Number.isInteger(clusters) || clusters < 1)
    throw new Error("--clusters takes whole numbers from 1, with commas");
  for (const row of await simulate(clusters)) {
    const { calls, callsPerSecondOfCloud, seconds, cpuSeconds, memoryMiB, p50, p99 } = row.ours;
    console.log(
      `${row.name}: ${calls} calls (${callsPerSecondOfCloud}/s of each cloud), ${seconds} s, ${cpuSeconds} s of processor time, ` +
        `queue p50 ${p50} ms p99 ${p99} ms, cache ${memoryMiB} MiB in each process`,
    );
    rows.push(row);
  }
}
const settings = {
  machines: number("machines"),
  replicas: number("replicas"),
  clouds: number("clouds"),
  clustersOfProject: number("tenant"),
  shards: number("shards"),
  lookMs: number("check"),
  changeMs: number("change"),
};
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ settings, rows }, null, 2)}\n`);
