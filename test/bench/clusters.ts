/**
 * The whole in one process: `causeway up` with many clusters of a hosted control plane and three simulated machines on
 * its simulated cloud. One project's credentials make 20 calls a second: ten clusters share a project, unless
 * `--per-project` says how many. Time from the first object until all machines are Ready Nodes, processor time, memory,
 * and what a minute at rest takes. `--counts 20,100,1000` (default 20,100), `--rest SECONDS` of the row at rest,
 * `--limit SECONDS` for all to run, `--json FILE`.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { rounded } from "./apiserver/rows.ts";
import { createClusters, MACHINES, untilRunning } from "./clusters/clusters.ts";
import { makeProjects } from "./clusters/projects.ts";
import { startWhole } from "./clusters/system.ts";

interface Figures {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly cpuSecondsPerCluster: number;
  readonly memoryMiB: number;
  readonly memoryMiBPerCluster: number;
  readonly idlePercentOfCore: number;
  readonly idleMemoryMiB: number;
  readonly processes: number;
}

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    counts: { type: "string", default: "20,100" },
    rest: { type: "string", default: "60" },
    limit: { type: "string", default: "3600" },
    "per-project": { type: "string", default: "10" },
  },
});
const counts = values.counts.split(",").map(Number);
const rest = Number(values.rest);
const perProject = Number(values["per-project"]);
if (![...counts, rest, Number(values.limit), perProject].every((n) => Number.isInteger(n) && n > 0))
  throw new Error("--counts, --rest, --limit and --per-project take whole numbers from 1");
/**
 * What is still to be done once the machines are Ready (ms): statuses, caches, the first round of each probe; and
 * workers are replaced once, to return memory.
 */
const SETTLE = 60_000;

const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));
const base = mkdtempSync(join(tmpdir(), "bench-clusters-"));

async function measure(count: number): Promise<Figures> {
  const system = await startWhole(base);
  try {
    const credentials = await makeProjects(system.cloudsYaml, Math.ceil(count / perProject));
    const before = system.cost();
    const begun = performance.now();
    await createClusters(system, count, credentials);
    await untilRunning(system, count, Number(values.limit));
    const seconds = (performance.now() - begun) / 1000;
    const running = system.cost();
    await pause(SETTLE);
    const still = system.cost();
    await pause(rest * 1000);
    const after = system.cost();
    const cpuSeconds = running.cpuSeconds - before.cpuSeconds;
    return {
      seconds,
      cpuSeconds,
      cpuSecondsPerCluster: cpuSeconds / count,
      memoryMiB: running.memoryMiB,
      memoryMiBPerCluster: (running.memoryMiB - before.memoryMiB) / count,
      idlePercentOfCore: ((after.cpuSeconds - still.cpuSeconds) / rest) * 100,
      idleMemoryMiB: after.memoryMiB,
      processes: system.processes(),
    };
  } finally {
    await system.close();
  }
}

const rows: { readonly name: string; readonly ours: Figures }[] = [];
try {
  for (const count of counts) {
    const figures = Object.entries(await measure(count)).map(([name, value]: [string, number]) => [
      name,
      rounded(value),
    ]);
    rows.push({ name: `${count} clusters of ${MACHINES} machines`, ours: Object.fromEntries(figures) as Figures });
    console.error(JSON.stringify(rows.at(-1)));
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows }, null, 2)}\n`);
  }
} finally {
  rmSync(base, { recursive: true, force: true });
}
console.table(Object.fromEntries(rows.map(({ name, ours }) => [name, ours])));
