/**
 * Our ingress controller next to the upstream octavia-ingress-controller: each with a kube-apiserver and a simulated
 * cloud of its own, at the same time. Load balancers of the simulated amphora provider take 2.5 s for a change. `--only
 * PATTERN` runs the rows whose name it matches, as far as they need no earlier one; `--side ours` or `--side upstream`
 * one of the two; `--idle-minutes N`, `--limit SECONDS`; `--routes` prints the calls of each row.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { kubernetesBinaries, upstreamProgram } from "../../scripts/kubernetes-programs.ts";
import { Stage } from "./ingress/stage.ts";
import * as situations from "./ingress/situations.ts";
import type { Provider } from "./load-balancer/cloud.ts";
import type { Side } from "./load-balancer/controllers.ts";
import { printed, roundedFigures, type Figures, type Row } from "./load-balancer/rows.ts";
import type { Outcome } from "./load-balancer/situations.ts";

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
const limits: situations.Limits = { seconds: Number(values.limit), idleMinutes: Number(values["idle-minutes"]) };
const only = new RegExp(values.only);
const provider: Provider = { name: "amphora", cycle: 2_500 };
const base = mkdtempSync(join(tmpdir(), "bench-ingress-"));
const rows: Row[] = [];

interface Situation {
  readonly name: string;
  readonly run: (stage: Stage, limits: situations.Limits) => Promise<Outcome>;
  /** The next ones need what it leaves. */
  readonly needed?: true;
}

const { MANY } = situations;
const all: readonly Situation[] = [
  { name: `${MANY} Ingresses at once`, run: situations.manyAtOnce, needed: true },
  { name: "one path added", run: situations.addPath },
  { name: "one certificate changed", run: situations.changeCertificate },
  { name: `an idle hour with ${MANY} Ingresses`, run: situations.idle },
  { name: `restart with ${MANY} Ingresses`, run: situations.runAgain },
  { name: `${MANY} Ingresses deleted`, run: situations.deleteAll },
];

async function start(): Promise<Map<Side, Stage>> {
  const kubernetes = await kubernetesBinaries(["etcd", "kube-apiserver"]);
  if ("reason" in kubernetes) throw new Error(`the benchmark needs a kube-apiserver: ${kubernetes.reason}`);
  const upstream = await upstreamProgram("octavia-ingress-controller");
  if ("reason" in upstream) console.error(`ours alone: ${upstream.reason}`);
  const program = "dir" in upstream ? join(upstream.dir, "octavia-ingress-controller") : undefined;
  const sides = (["ours", "upstream"] as const).filter(
    (side) => (values.side ?? side) === side && (side === "ours" || program !== undefined),
  );
  const stages = new Map<Side, Stage>();
  for (const side of sides) {
    const explain = (routes: readonly string[]): void => print(side, routes);
    const options = { side, provider, base, binaries: kubernetes.dir, program: program ?? "" };
    const stage = await Stage.start({ ...options, ...(values.routes ? { explain } : {}) });
    stages.set(side, stage);
    stage.startController();
  }
  return stages;
}

function print(side: Side, routes: readonly string[]): void {
  const counts: Record<string, number> = {};
  for (const route of routes) counts[route] = (counts[route] ?? 0) + 1;
  console.error(side, counts);
}

/** After each row: what has been measured is kept, whatever becomes of the rest. */
function keep(name: string, outcomes: Readonly<Partial<Record<Side, Outcome>>>): void {
  const notes = (Object.entries(outcomes) as [Side, Outcome][]).flatMap(([side, { note }]) =>
    note === undefined ? [] : [`${side}: ${note}`],
  );
  const row: Row = {
    name,
    ...(outcomes.ours ? { ours: outcomes.ours.figures } : {}),
    ...(outcomes.upstream ? { upstream: outcomes.upstream.figures } : {}),
    ...(notes.length > 0 ? { note: notes.join("; ") } : {}),
  };
  rows.push(row);
  console.error(printed([row]).split("\n")[1]);
  if (values.json === undefined) return;
  const json = rows.map(({ name, ours, upstream, note }) => ({
    name,
    ...(ours ? { ours: roundedFigures(ours) } : {}),
    ...(upstream ? { upstream: roundedFigures(upstream) } : {}),
    ...(ours && upstream ? { ratios: ratios(ours, upstream) } : {}),
    ...(note === undefined ? {} : { note }),
  }));
  writeFileSync(values.json, `${JSON.stringify({ rows: json }, null, 2)}\n`);
}

/** Ours divided by upstream's; a ratio to nothing is left out. */
function ratios(ours: Figures, upstream: Figures): Record<string, number> {
  const fields = ["calls", "seconds", "cpuSeconds", "memoryMiB"] as const;
  return Object.fromEntries(
    fields.flatMap((field) =>
      upstream[field] > 0 ? [[field, Math.round((ours[field] / upstream[field]) * 1000) / 1000]] : [],
    ),
  );
}

const stages = new Map<Side, Stage>();
try {
  for (const [side, stage] of await start()) stages.set(side, stage);
  await Promise.all([...stages.values()].map(situations.warmUp));
  for (const { name, run, needed } of all) {
    if (!only.test(name) && needed !== true) continue;
    // At the same time: whatever else this machine does meanwhile, it does to both.
    const outcomes = await Promise.all(
      [...stages].map(async ([side, stage]) => [side, await run(stage, limits)] as const),
    );
    keep(name, Object.fromEntries(outcomes));
  }
} finally {
  for (const stage of stages.values()) await stage.close();
  rmSync(base, { recursive: true, force: true });
}
console.log(printed(rows));
