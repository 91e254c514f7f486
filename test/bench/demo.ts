/** The demo in figures: a fresh start, a restart, and a minute at rest, each as the cloud and the kernel saw it. */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { idleCost, restingDemo } from "../support/idle.ts";
import { demoInventory } from "../support/reference.ts";
import { openStage, settled, type Stage } from "../support/stage.ts";

interface Figures {
  readonly calls: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly memoryMiB: number;
}

interface Row {
  readonly name: string;
  readonly ours: Figures;
}

const ready = 60_000;
const rounds = 3;
const minute = 60_000;

/** Processor time (user and system) and resident memory of a process; Linux counts in ticks of 10 ms. */
function usage(pid: number | undefined): { cpuSeconds: number; memoryMiB: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
  return { cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100, memoryMiB: Number(kilobytes) / 1024 };
}

async function start(stage: Stage): Promise<Figures> {
  const from = stage.simulator.calls.length;
  const begun = performance.now();
  const system = stage.up("--demo");
  await system.until(/demo ready: .*\n/, ready);
  const seconds = (performance.now() - begun) / 1000;
  const calls = stage.simulator.calls.length - from;
  const used = usage(system.child.pid);
  await settled(stage, demoInventory);
  await system.stop();
  return { calls, seconds, ...used };
}

async function idle(workers: number): Promise<Figures> {
  const stage = await restingDemo(workers, 3 * ready);
  try {
    const pid = stage.pid();
    const before = usage(pid);
    const { calls } = await idleCost(stage, workers, minute);
    const after = usage(pid);
    return {
      calls: calls.length,
      seconds: 60,
      cpuSeconds: after.cpuSeconds - before.cpuSeconds,
      memoryMiB: after.memoryMiB,
    };
  } finally {
    await stage.close();
  }
}

/** The middle one by time, which a busy neighbour moves least. */
function middle(runs: readonly Figures[]): Figures {
  const sorted = [...runs].sort((a, b) => a.seconds - b.seconds);
  return sorted[Math.floor(sorted.length / 2)] ?? { calls: 0, seconds: 0, cpuSeconds: 0, memoryMiB: 0 };
}

function rounded({ calls, seconds, cpuSeconds, memoryMiB }: Figures): Figures {
  const tenth = (value: number) => Math.round(value * 10) / 10;
  return { calls, seconds: tenth(seconds), cpuSeconds: tenth(cpuSeconds), memoryMiB: Math.round(memoryMiB) };
}

const { values } = parseArgs({ options: { json: { type: "string" } } });
const fresh: Figures[] = [];
const restarts: Figures[] = [];
for (let round = 0; round < rounds; round++) {
  const stage = await openStage();
  try {
    fresh.push(await start(stage));
    restarts.push(await start(stage));
  } finally {
    await stage.close();
  }
}
const rows: Row[] = [
  { name: "demo fresh", ours: rounded(middle(fresh)) },
  { name: "demo restart (unchanged)", ours: rounded(middle(restarts)) },
  { name: "idle minute 3 workers", ours: rounded(await idle(3)) },
  { name: "idle minute 50 workers", ours: rounded(await idle(50)) },
];
console.table(Object.fromEntries(rows.map(({ name, ours }) => [name, ours])));
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows }, null, 2)}\n`);
