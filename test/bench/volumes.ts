/**
 * Our Cinder driver next to the upstream one, each with the stock sidecars, a kube-apiserver and a simulated cloud of
 * its own whose delays were recorded on a real one, at the same time in one run. Claims are bound and VolumeAttachments
 * made by packages/workload-controllers. Processor time and memory are the driver's process; the row of the fleet
 * counts all processes. `--only PATTERN` runs the rows whose name it matches, `--side ours|upstream` one side,
 * `--idle-minutes N`, `--limit SECONDS`, `--routes` prints the calls of each row.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { kubernetesBinaries, sidecarBinaries, upstreamProgram, type Built } from "../../scripts/kubernetes-programs.ts";
import { printed, roundedFigures, type Figures, type Row } from "./load-balancer/rows.ts";
import type { Side } from "./volumes/processes.ts";
import {
  detachment,
  idle,
  prepare,
  restart,
  resumption,
  situations,
  type Limits,
  type Outcome,
  type Situation,
} from "./volumes/situations.ts";
import { virtualHour } from "./volumes/hour.ts";
import { Stage, type Programs, type TimedRoute } from "./volumes/stage.ts";
import { fleet } from "./volumes/fleet.ts";

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    only: { type: "string", default: "" },
    side: { type: "string" },
    "idle-minutes": { type: "string", default: "10" },
    limit: { type: "string", default: "300" },
    routes: { type: "boolean", default: false },
  },
});
const limits: Limits = { seconds: Number(values.limit), idleMinutes: Number(values["idle-minutes"]) };
const sides = (["ours", "upstream"] as const).filter((side) => (values.side ?? side) === side);
const explain = values.routes ? { explain: printRoutes } : {};
const only = new RegExp(values.only);
const base = mkdtempSync(join(tmpdir(), "bench-volumes-"));
const rows: Row[] = [];

/** How often each was made. */
function printRoutes(calls: readonly TimedRoute[]): void {
  const counts: Record<string, number> = {};
  for (const { route } of calls) counts[route] = (counts[route] ?? 0) + 1;
  console.error(counts);
}

function folder(what: string, built: Built): string {
  if ("reason" in built) throw new Error(`the benchmark needs ${what}: ${built.reason}`);
  return built.dir;
}

async function built(): Promise<Programs> {
  const kubernetes = folder("a kube-apiserver", await kubernetesBinaries(["etcd", "kube-apiserver"]));
  const upstream = folder("cinder-csi-plugin", await upstreamProgram("cinder-csi-plugin"));
  const sidecars = folder("the stock sidecars", await sidecarBinaries());
  return { kubernetes, upstream: join(upstream, "cinder-csi-plugin"), sidecars, crds: join(sidecars, "crds") };
}

/** After each row: what has been measured is kept, whatever becomes of the rest. */
function keep(row: Row): void {
  rows.push(row);
  console.error(printed([row]).split("\n")[1]);
  const json = rows.map(({ name, ours, upstream, note }) => ({
    name,
    ...(ours ? { ours: roundedFigures(ours) } : {}),
    ...(upstream ? { upstream: roundedFigures(upstream) } : {}),
    ...(ours && upstream ? { ratios: ratiosOf(ours, upstream) } : {}),
    ...(note === undefined ? {} : { note }),
  }));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows: json }, null, 2)}\n`);
}

/** Ours divided by upstream's. */
function ratiosOf(ours: Figures, upstream: Figures): Readonly<Record<string, number>> {
  const fields = ["calls", "seconds", "cpuSeconds", "memoryMiB"] as const;
  const known = fields.filter((field) => upstream[field] > 0);
  return Object.fromEntries(known.map((field) => [field, Math.round((ours[field] / upstream[field]) * 1000) / 1000]));
}

/** Both sides at the same time: whatever else this machine does meanwhile, it does to both. */
async function together(stages: ReadonlyMap<Side, Stage>, situation: Situation): Promise<void> {
  const outcomes: Partial<Record<Side, Outcome>> = Object.fromEntries(
    await Promise.all([...stages].map(async ([side, stage]) => [side, await situation.run(stage, limits)] as const)),
  );
  const notes = (Object.entries(outcomes) as [Side, Outcome][]).flatMap(([side, { note }]) =>
    note === undefined ? [] : [`${side}: ${note}`],
  );
  keep({
    name: situation.name,
    ...(outcomes.ours ? { ours: outcomes.ours.figures } : {}),
    ...(outcomes.upstream ? { upstream: outcomes.upstream.figures } : {}),
    ...(notes.length > 0 ? { note: notes.join("; ") } : {}),
  });
}

/** With a driver of its own on a clock that is turned forward: more than the real minutes of the idle row show. */
async function hourOfOurs(stages: ReadonlyMap<Side, Stage>): Promise<void> {
  const stage = stages.get("ours");
  if (!stage) return;
  const { upstream } = rows.at(-1) ?? {};
  await stage.stopPod();
  const { figures, note } = await virtualHour(stage);
  await stage.startPod();
  keep({
    name: `${idle.name}, ours on the virtual clock`,
    ours: figures,
    ...(upstream ? { upstream } : {}),
    ...(note === undefined ? {} : { note }),
  });
}

async function onStages(programs: Programs, wanted: readonly Situation[]): Promise<void> {
  if (wanted.length === 0) return;
  const stages = new Map<Side, Stage>();
  try {
    for (const side of sides) stages.set(side, await Stage.start({ side, base, programs, ...explain }));
    await Promise.all([...stages.values()].map(prepare));
    for (const situation of wanted) {
      await together(stages, situation);
      if (situation === idle) await hourOfOurs(stages);
    }
  } finally {
    for (const stage of stages.values()) await stage.close();
  }
}

const programs = await built();
try {
  const order = [...situations, restart, resumption, idle, detachment];
  // Later rows begin with what earlier ones made.
  const last = order.findLastIndex(({ name }) => only.test(name));
  await onStages(
    programs,
    order.slice(0, last + 1).filter((each) => situations.includes(each) || only.test(each.name)),
  );
  if (only.test("memory of the fleet")) keep(await fleet({ base, programs, sides }));
} finally {
  rmSync(base, { recursive: true, force: true });
}
console.log(printed(rows));
