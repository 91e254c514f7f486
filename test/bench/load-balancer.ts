/**
 * Our cloud controller manager next to the upstream one: each with a kube-apiserver and a simulated cloud of its own,
 * side by side in one run. Load balancers take 10 s for a change as amphorae do, or 0.5 s as OVN's do. `--only PATTERN`
 * runs the parts whose name it matches (amphora ordinary, amphora many, amphora wide, the same of ovn, ovn costly,
 * restart, idle, fleet); `--side ours` or `--side upstream` one of the two; `--idle-minutes N`, `--limit SECONDS`,
 * `--routes` lists the calls of each row, with their times.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cloudControllerBinary, kubernetesBinaries } from "../../scripts/kubernetes-programs.ts";
import type { Provider } from "./load-balancer/cloud.ts";
import type { Side } from "./load-balancer/controllers.ts";
import { fleet } from "./load-balancer/fleet.ts";
import { virtualHour } from "./load-balancer/hour.ts";
import { printed, roundedFigures, type Row } from "./load-balancer/rows.ts";
import {
  idle,
  manyAtOnce,
  ordinary,
  restart,
  warmUp,
  wide,
  type Limits,
  type Outcome,
  type Situation,
} from "./load-balancer/situations.ts";
import { Stage, type TimedRoute } from "./load-balancer/stage.ts";

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    only: { type: "string", default: "" },
    side: { type: "string" },
    "idle-minutes": { type: "string", default: "10" },
    routes: { type: "boolean", default: false },
    limit: { type: "string", default: "240" },
  },
});
const limits: Limits = { seconds: Number(values.limit), idleMinutes: Number(values["idle-minutes"]) };
const wanted: readonly Side[] = (["ours", "upstream"] as const).filter((s) => (values.side ?? s) === s);
const amphora: Provider = { name: "amphora", cycle: 10_000 };
const ovn: Provider = { name: "ovn", cycle: 500 };
/** As the OVN provider of a real cloud was measured: a change works on every member that its request names. */
const costly: Provider = { name: "ovn", cycle: 500, perMember: 100 };
const explain = values.routes ? { explain: print } : {};
const base = mkdtempSync(join(tmpdir(), "bench-load-balancer-"));
const rows: Row[] = [];

/** Few calls each with its time, many by how often each was made. */
function print(calls: readonly TimedRoute[]): void {
  const counts: Record<string, number> = {};
  for (const { route } of calls) counts[route] = (counts[route] ?? 0) + 1;
  if (calls.length > 100) console.error(counts);
  else for (const { at, route } of calls) console.error(`${at.toFixed(2).padStart(8)} s  ${route}`);
}

async function needed(): Promise<{ binaries: string; program: string; sides: readonly Side[] }> {
  const kubernetes = await kubernetesBinaries(["etcd", "kube-apiserver"]);
  if ("reason" in kubernetes) throw new Error(`the benchmark needs a kube-apiserver: ${kubernetes.reason}`);
  const upstream = wanted.includes("upstream") ? await cloudControllerBinary() : undefined;
  if (upstream && "reason" in upstream) console.error(`ours alone: ${upstream.reason}`);
  const built = upstream && "dir" in upstream ? upstream.dir : undefined;
  return {
    binaries: kubernetes.dir,
    program: join(built ?? "", "openstack-cloud-controller-manager"),
    sides: wanted.filter((side) => side === "ours" || built !== undefined),
  };
}

const { binaries, program, sides } = await needed();

/** After each row: what has been measured is kept, whatever becomes of the rest. */
function keep(row: Row): void {
  rows.push(row);
  console.error(printed([row]).split("\n")[1]);
  const json = rows.map(({ name, ours, upstream, note }) => ({
    name,
    ...(ours ? { ours: roundedFigures(ours) } : {}),
    ...(upstream ? { upstream: roundedFigures(upstream) } : {}),
    ...(note === undefined ? {} : { note }),
  }));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows: json }, null, 2)}\n`);
}

function add(name: string, outcomes: Readonly<Partial<Record<Side, Outcome>>>): void {
  const notes = (Object.entries(outcomes) as [Side, Outcome][]).flatMap(([side, { note }]) =>
    note === undefined ? [] : [`${side}: ${note}`],
  );
  const row: Row = {
    name,
    ...(outcomes.ours ? { ours: outcomes.ours.figures } : {}),
    ...(outcomes.upstream ? { upstream: outcomes.upstream.figures } : {}),
    ...(notes.length > 0 ? { note: notes.join("; ") } : {}),
  };
  keep(row);
}

async function onStages(
  provider: Provider,
  nodes: number,
  work: (stages: Map<Side, Stage>) => Promise<void>,
): Promise<void> {
  const stages = new Map<Side, Stage>();
  try {
    for (const side of sides) {
      const stage = await Stage.start({ side, provider, base, binaries, program, ...explain });
      stages.set(side, stage);
      await stage.addNodes(nodes - 1);
      await stage.startController();
    }
    await Promise.all([...stages.values()].map(warmUp));
    await work(stages);
  } finally {
    for (const stage of stages.values()) await stage.close();
  }
}

/** Both sides at the same time: whatever else this machine does meanwhile, it does to both. */
async function together(stages: Map<Side, Stage>, situation: Situation, prefix: string): Promise<void> {
  const outcomes = await Promise.all(
    [...stages].map(async ([side, stage]) => [side, await situation.run(stage, limits)] as const),
  );
  add(`${prefix}: ${situation.name}`, Object.fromEntries(outcomes));
}

/** While nothing happens there, what mostly waits is measured on stages of its own. */
async function restingHour(stages: Map<Side, Stage>): Promise<void> {
  const resting = Promise.all([...stages].map(async ([side, stage]) => [side, await idle(stage, limits)] as const));
  const [outcomes] = await Promise.all([resting, ...waitingParts.map((part) => part())]);
  const both: Partial<Record<Side, Outcome>> = Object.fromEntries(outcomes);
  add("an idle hour with 200 Services", both);
  const ours = stages.get("ours");
  if (!ours) return;
  await ours.stopController();
  add("an idle hour with 200 Services, ours on the virtual clock", { ...both, ours: await virtualHour(ours) });
}

const only = new RegExp(values.only);
const wants = (part: string): boolean => only.test(part);

async function wideOn(provider: Provider, prefix: string): Promise<void> {
  await onStages(provider, 200, async (stages) => {
    for (const one of wide) await together(stages, one, prefix);
  });
}

/** Minutes of waiting for load balancers that change. */
const waitingParts = [
  ...(wants("amphora wide") ? [() => wideOn(amphora, "amphora")] : []),
  ...(wants("ovn costly") ? [() => wideOn(costly, "ovn, 0.1 s a member")] : []),
];

async function partsOf(provider: Provider): Promise<void> {
  const { name } = provider;
  const resting = wants("idle") && name === "ovn";
  const again = resting || (wants("restart") && name === "ovn");
  const [first, second] = [wants(`${name} ordinary`), wants(`${name} many`) || again];
  if (!first && !second) return;
  await onStages(provider, 80, async (stages) => {
    if (first) for (const one of ordinary) await together(stages, one, name);
    if (second) await together(stages, manyAtOnce, name);
    if (again) await together(stages, restart, name);
    if (resting) await restingHour(stages);
  });
}

try {
  await partsOf(amphora);
  await partsOf(ovn);
  if (wants("ovn wide")) await wideOn(ovn, "ovn");
  if (!wants("idle")) for (const part of waitingParts) await part();
  if (wants("fleet")) keep(await fleet(base, program, sides));
} finally {
  rmSync(base, { recursive: true, force: true });
}
console.log(printed(rows));
