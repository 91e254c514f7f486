/**
 * Workloads in figures: `causeway apiserver --controllers`, next to kube-apiserver with etcd, kube-controller-manager
 * and kube-scheduler; one after the other in one run, with the same simulated nodes in a process that is not measured.
 * "upstream" has the programs' default limits of requests (20 and 50 a second), "unlimited" none that matter. Then idle
 * tenants of ours. `--hollow` puts Kubernetes' own kubelets with made-up containers in the place of simulated nodes, on
 * each side, and adds rows of its own. `--side NAME` runs one of them ("tenants" for the last); `--nodes`, `--pods`,
 * `--rate`, `--seconds`, `--idle` and `--tenants` change the sizes. `--json FILE` adds the rows to those that the file
 * has.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { controlPlanePrograms, e2ePrograms, kubernetesBinaries } from "../../scripts/kubernetes-programs.ts";
import { rounded } from "./apiserver/rows.ts";
import { Kept } from "./workloads/kept.ts";
import { printed, roundedFigures, type Side } from "./workloads/rows.ts";
import { situations, type Sizes } from "./workloads/situations.ts";
import { Stage, type Measured } from "./workloads/stage.ts";
import { idleTenants } from "./workloads/tenants.ts";

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    side: { type: "string", multiple: true },
    nodes: { type: "string", default: "100" },
    pods: { type: "string", default: "1000" },
    rate: { type: "string", default: "100" },
    seconds: { type: "string", default: "10" },
    idle: { type: "string", default: "60" },
    tenants: { type: "string", default: "1000" },
    hollow: { type: "boolean", default: false },
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
const kept = new Kept(values.json, () => ({
  machine: { ...machine, loadAfter: loadNow() },
  nodes: Number(values.nodes),
}));

async function upstreamPrograms(): Promise<string | undefined> {
  const kubernetes = await kubernetesBinaries(["etcd", "kube-apiserver"]);
  const programs = "dir" in kubernetes ? await controlPlanePrograms() : kubernetes;
  if ("dir" in kubernetes && "dir" in programs) return kubernetes.dir;
  console.error(`ours alone: ${"reason" in programs ? programs.reason : ""}`);
  return undefined;
}

async function hollowNodes(): Promise<string> {
  const programs = await e2ePrograms(["hollow-node"]);
  if ("dir" in programs) return programs.dir;
  throw new Error(`no hollow kubelets: ${programs.reason}`);
}

function add(name: string, side: Side, measured: Measured): void {
  kept.add(name, side, measured);
  console.error(`${side}: ${name}: ${JSON.stringify(roundedFigures(measured.figures))}`);
}

/**
 * Where kube-controller-manager and kube-scheduler are next to kube-apiserver and etcd: built for sides that need it.
 */
const binaries = sides.some((side) => side !== "ours") ? await upstreamPrograms() : undefined;
const kubelets = values.hollow ? await hollowNodes() : undefined;
const suffix = values.hollow ? ", hollow kubelets" : "";
try {
  for (const side of sides) {
    if (side !== "ours" && binaries === undefined) continue;
    const stage = await Stage.start({ side, base, binaries: binaries ?? "", nodes: Number(values.nodes), kubelets });
    try {
      for (const situation of situations)
        add(`${situation.name(sizes)}${suffix}`, side, await situation.run(stage, sizes));
    } finally {
      await stage.close();
    }
  }
  if (values.side?.includes("tenants") ?? !values.hollow) {
    const tenants = Number(values.tenants);
    const figures = await idleTenants(base, { tenants, idleSeconds: sizes.idleSeconds });
    add(`${tenants} idle tenants with their controllers, ${sizes.idleSeconds} s`, "ours", { figures });
  }
} finally {
  rmSync(base, { recursive: true, force: true });
}
console.log(printed(kept.rows));
