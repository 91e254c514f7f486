/**
 * Hosted control planes of `causeway up`, a process of its own: time from the request of a control plane until its API
 * reports that it is ready to the holder of its kubeconfig, with the embedded runtime and with processes of Kubernetes'
 * own programs (where they are built); the time for 100 embedded ones at once; memory of a control plane by process,
 * and of the operator for each. `--embedded 20`, `--processes 5`, `--tenants 100`, `--json FILE`. `--at-once 20` also
 * runs so many control planes of the real programs at the same time, which takes half a GiB each.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { controlPlanePrograms } from "../../scripts/kubernetes-programs.ts";
import { rounded } from "./apiserver/rows.ts";
import { proportionalMiB } from "./apiserver/subject.ts";
import { familyOf, startWhole, type WholeSystem } from "./clusters/system.ts";
import { memoryByProgram } from "./hosted-control-plane/memory.ts";
import { removeTenant, tenantReady } from "./hosted-control-plane/tenants.ts";
import { inParallel } from "./in-parallel.ts";

interface Row {
  readonly name: string;
  /** The figure that the limit is about. */
  readonly by: string;
  readonly ours: Readonly<Record<string, number>>;
  /** What the figure must not exceed. */
  readonly limit?: number;
}

const AT_ONCE = 8;
/** What is still to be done after the last answer (ms): statuses, caches, events. */
const SETTLE = 10_000;
/** For each of many that start their programs at once (ms). */
const LONGEST_TOGETHER = 900_000;
const VERSION = "v1.34.4";

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    embedded: { type: "string", default: "20" },
    processes: { type: "string", default: "5" },
    tenants: { type: "string", default: "100" },
    "at-once": { type: "string", default: "0" },
  },
});
const [embedded = 0, processes = 0, tenants = 0] = [values.embedded, values.processes, values.tenants].map(Number);
if (![embedded, processes, tenants].every((n) => Number.isInteger(n) && n > 0))
  throw new Error("--embedded, --processes and --tenants take whole numbers from 1");

const together = Number(values["at-once"]);
if (!Number.isInteger(together) || together < 0) throw new Error("--at-once takes a whole number from 0");

const base = mkdtempSync(join(tmpdir(), "bench-hosted-"));
const rows: Row[] = [];
const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

try {
  await withSystem([], async (system) => {
    report(await oneByOne(system, { runtime: "embedded", count: embedded, limit: 0.1 }));
  });
  await withSystem([], async (system) => {
    // The first one starts what all share.
    await tenantReady(system.client, "first", VERSION);
    for (const row of await atOnce(system)) report(row);
  });
  const programs = await controlPlanePrograms();
  if ("reason" in programs) console.error(`processes are not measured: ${programs.reason}`);
  else {
    await withSystem(["--runtime", "process", "--programs", programs.dir], async (system) => {
      report(await oneByOne(system, { runtime: "processes", count: processes, limit: 15 }));
      for (const row of await byProcess(system)) report(row);
    });
    if (together > 0)
      await withSystem(["--runtime", "process", "--programs", programs.dir], async (system) => {
        report(await processesAtOnce(system, together));
      });
  }
} finally {
  rmSync(base, { recursive: true, force: true });
}
console.table(
  Object.fromEntries(rows.map(({ name, ours, by, limit }) => [name, { [by]: ours[by], limit: limit ?? "-" }])),
);
process.exit();

function report(row: Row): void {
  const ours = Object.entries(row.ours).map(([name, value]) => [name, rounded(value)]);
  rows.push({ ...row, ours: Object.fromEntries(ours) as Row["ours"] });
  console.error(JSON.stringify(rows.at(-1)));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows }, null, 2)}\n`);
}

async function withSystem(args: readonly string[], work: (system: WholeSystem) => Promise<void>): Promise<void> {
  const system = await startWhole(base, args);
  // Programs of control planes outlive the operator that started them, and must not outlive this process.
  const endAll = (): void => familyOf(system.pid).toReversed().forEach(end);
  const stopped = (): never => process.exit(1);
  process.once("exit", endAll);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stopped);
  try {
    await work(system);
  } finally {
    const left = familyOf(system.pid).slice(1);
    process.removeListener("exit", endAll);
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.removeListener(signal, stopped);
    await system.close();
    left.forEach(end);
  }
}

/** Ends a program that the ended operator left. */
function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended with its parent.
  }
}

/**
 * Control planes one after another, each removed before the next is requested; the first one, which starts what all
 * share, counts too.
 */
async function oneByOne(
  { client }: WholeSystem,
  { runtime, count, limit }: { runtime: string; count: number; limit: number },
): Promise<Row> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    times.push(await tenantReady(client, `one-${i}`, VERSION));
    await removeTenant(client, `one-${i}`);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(count - 1, Math.floor(count * share))] ?? 0;
  const ours = { p50Seconds: at(0.5), p95Seconds: at(0.95), firstSeconds: times[0] ?? 0, controlPlanes: count };
  return { name: `API ready, ${runtime}`, by: "p50Seconds", ours, limit };
}

async function atOnce({ client, pid }: WholeSystem): Promise<Row[]> {
  await pause(SETTLE);
  const memory = (): { operator: number; all: number } => ({
    operator: proportionalMiB([{ pid }]),
    all: proportionalMiB(familyOf(pid).map((each) => ({ pid: each }))),
  });
  const before = memory();
  const begun = performance.now();
  const names = Array.from({ length: tenants }, (_, i) => `tenant-${i}`);
  await inParallel(names, (name) => tenantReady(client, name, VERSION), AT_ONCE);
  const seconds = (performance.now() - begun) / 1000;
  await pause(SETTLE);
  const after = memory();
  const each = (field: "operator" | "all"): number => (after[field] - before[field]) / tenants;
  return [
    { name: `${tenants} embedded tenants ready`, by: "seconds", ours: { seconds }, limit: tenants / 5 },
    { name: "operator memory for each tenant", by: "memoryMiB", ours: { memoryMiB: each("operator") }, limit: 2 },
    { name: "memory of an embedded control plane, all processes", by: "memoryMiB", ours: { memoryMiB: each("all") } },
  ];
}

/** So many control planes of the real programs on one machine, requested at once: until all are ready. */
async function processesAtOnce({ client, pid }: WholeSystem, count: number): Promise<Row> {
  const memory = (): number => proportionalMiB(familyOf(pid).map((each) => ({ pid: each })));
  const before = memory();
  const begun = performance.now();
  const times = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      tenantReady(client, `together-${i}`, VERSION, { longest: LONGEST_TOGETHER }),
    ),
  );
  const seconds = (performance.now() - begun) / 1000;
  await pause(SETTLE);
  const allMiB = memory();
  const memoryMiB = allMiB - before;
  // All of the machine's work for them: the management program and its API, too.
  const ours = { seconds, firstSeconds: Math.min(...times), memoryMiB, memoryMiBEach: memoryMiB / count, allMiB };
  return { name: `${count} tenants of the real programs on one machine`, by: "seconds", ours };
}

async function byProcess({ client, pid }: WholeSystem): Promise<Row[]> {
  await tenantReady(client, "weighed", VERSION);
  await pause(SETTLE);
  return memoryByProgram(familyOf(pid).slice(1)).map(([program, memoryMiB]) => ({
    name: `memory of ${program}`,
    by: "memoryMiB",
    ours: { memoryMiB },
  }));
}
