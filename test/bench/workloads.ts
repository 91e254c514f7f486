/**
 * Workloads in figures: `causeway apiserver --controllers`, next to kube-apiserver with etcd, kube-controller-manager and kube-scheduler; one after
 * the other in one run, with the same simulated nodes in a process that is not measured. "upstream" has the programs' default limits of
 * requests (20 and 50 a second), "unlimited" none that matter. `--side NAME` runs one of them; `--nodes`, `--pods`, `--rate`, `--seconds` and
 * `--idle` change the sizes.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { controlPlanePrograms, kubernetesBinaries } from "../../scripts/kubernetes-programs.ts";
import { rounded } from "./apiserver/rows.ts";
import { printed, roundedFigures, type Figures, type Row, type Side } from "./workloads/rows.ts";
import { situations, type Sizes } from "./workloads/situations.ts";
import { Stage, type Measured } from "./workloads/stage.ts";

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    side: { type: "string", multiple: true },
    nodes: { type: "string", default: "100" },
    pods: { type: "string", default: "1000" },
    rate: { type: "string", default: "100" },
    seconds: { type: "string", default: "10" },
    idle: { type: "string", default: "60" },
  },
});
const sizes: Sizes = {
  pods: Number(values.pods),
  rate: Number(values.rate),
  seconds: Number(values.seconds),
  idleSeconds: Number(values.idle),
};
const sides = (["ours", "upstream", "unlimited"] as const).filter((side) => values.side?.includes(side) ?? true);
/** Processes that want a processor, mean of a minute. */
const loadNow = (): number => rounded(loadavg()[0] ?? 0);
const machine = { processors: availableParallelism(), node: process.version, loadBefore: loadNow() };
const base = mkdtempSync(join(tmpdir(), "bench-workloads-"));
const measured = new Map<string, Map<Side, Measured>>(situations.map(({ name }) => [name(sizes), new Map()]));

function rowsOf(): Row[] {
  const sideways = (all: Map<Side, Measured>, pick: (one: Measured) => Figures | undefined) =>
    Object.fromEntries([...all].flatMap(([side, one]) => (pick(one) ? [[side, pick(one)]] : [])));
  return [...measured].map(([name, all]) => ({
    name,
    figures: sideways(all, ({ figures }) => figures),
    controllers: sideways(all, ({ controllers }) => controllers),
  }));
}

/** After each situation: what has been measured is kept, whatever becomes of the rest. */
function keep(): void {
  if (values.json === undefined) return;
  const rows = rowsOf().map(({ name, figures, controllers }) => ({
    name,
    ...mapped(figures),
    controllers: mapped(controllers),
  }));
  const text = { machine: { ...machine, loadAfter: loadNow() }, nodes: Number(values.nodes), rows };
  writeFileSync(values.json, `${JSON.stringify(text, null, 2)}\n`);
}

function mapped(figures: Readonly<Partial<Record<Side, Figures>>>): object {
  return Object.fromEntries(Object.entries(figures).map(([side, one]) => [side, roundedFigures(one)]));
}

const kubernetes = await kubernetesBinaries(["etcd", "kube-apiserver"]);
const programs = "dir" in kubernetes ? await controlPlanePrograms() : kubernetes;
if ("reason" in programs) console.error(`ours alone: ${programs.reason}`);
/** Where kube-controller-manager and kube-scheduler are next to kube-apiserver and etcd. */
const binaries = "dir" in kubernetes && "dir" in programs ? kubernetes.dir : undefined;
try {
  for (const side of sides) {
    if (side !== "ours" && binaries === undefined) continue;
    const stage = await Stage.start({ side, base, binaries: binaries ?? "", nodes: Number(values.nodes) });
    try {
      for (const situation of situations) {
        const found = await situation.run(stage, sizes);
        const name = situation.name(sizes);
        measured.get(name)?.set(side, found);
        console.error(`${side}: ${name}: ${JSON.stringify(roundedFigures(found.figures))}`);
        keep();
      }
    } finally {
      await stage.close();
    }
  }
} finally {
  rmSync(base, { recursive: true, force: true });
}
console.log(printed(rowsOf()));
