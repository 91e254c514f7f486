/**
 * `causeway run cluster-api` and `causeway run cluster-api-openstack` next to upstream's core manager and OpenStack
 * provider: each with a kube-apiserver and a simulated cloud of its own, one side after the other. Clusters of 3 + 10
 * machines with a load balancer; machines come up as Nodes at once. `--counts 1,10`, `--workers N`, `--side
 * ours|upstream`, `--idle-minutes N` (0: not measured), `--notice SECONDS` to wait for a lost server (0: not measured),
 * `--boot SECONDS` until a server is ACTIVE (0), `--sync-period 60s` of upstream's provider (default: its own),
 * `--limit SECONDS`; `--routes` prints the calls of each row.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { capoBinaries, clusterApiBinaries } from "../../scripts/cluster-api-programs.ts";
import { kubernetesBinaries } from "../../scripts/kubernetes-programs.ts";
import type { UpstreamPlace } from "./cluster-api/managers.ts";
import * as situations from "./cluster-api/situations.ts";
import { Stage, type StageOptions } from "./cluster-api/stage.ts";
import type { Side } from "./load-balancer/controllers.ts";
import { printed, rowsForFile, type Row } from "./load-balancer/rows.ts";

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    counts: { type: "string", default: "1,10" },
    workers: { type: "string", default: "10" },
    side: { type: "string" },
    "idle-minutes": { type: "string", default: "5" },
    notice: { type: "string", default: "0" },
    boot: { type: "string", default: "0" },
    "sync-period": { type: "string" },
    routes: { type: "boolean", default: false },
    limit: { type: "string", default: "400" },
  },
});
const CONTROL_PLANES = 3;
const workers = Number(values.workers);
const limits: situations.Limits = { seconds: Number(values.limit), idleMinutes: Number(values["idle-minutes"]) };
const counts = values.counts.split(",").map(Number);
const rows = new Map<string, Row>();
const base = mkdtempSync(join(tmpdir(), "bench-cluster-api-"));

/** After each row: what has been measured is kept, whatever becomes of the rest. */
function keep(side: Side, name: string, { figures, note }: situations.Outcome): void {
  const row = rows.get(name) ?? { name };
  const notes = [row.note, note === undefined ? undefined : `${side}: ${note}`].filter((each) => each !== undefined);
  rows.set(name, { ...row, [side]: figures, ...(notes.length > 0 ? { note: notes.join("; ") } : {}) });
  console.error(side, printed([{ name, [side]: figures }]).split("\n")[1], note ?? "");
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ rows: rowsForFile([...rows.values()]) }, null, 2)}\n`);
}

function explain(routes: readonly string[]): void {
  const found: Record<string, number> = {};
  for (const route of routes) found[route] = (found[route] ?? 0) + 1;
  console.error(found);
}

async function measure(side: Side, options: Omit<StageOptions, "side">): Promise<void> {
  const stage = await Stage.start({ ...options, side });
  try {
    for (const count of counts) {
      const names = Array.from({ length: count }, (_, i) => `b${count}-${i}`);
      const booting = values.boot === "0" ? "" : ` that boot for ${values.boot} s`;
      const of = `${count} ${count === 1 ? "cluster" : "clusters"} of ${CONTROL_PLANES}+${workers}${booting}`;
      keep(side, `${of} created`, await situations.create(stage, names, CONTROL_PLANES + workers, limits));
      if (limits.idleMinutes > 0) keep(side, `an idle hour with ${of}`, await situations.idle(stage, limits));
      keep(side, `restart with ${of}`, await situations.restart(stage));
      const seconds = Number(values.notice);
      if (seconds > 0) keep(side, `a lost server of ${of}`, await situations.notice(stage, { ...limits, seconds }));
      keep(side, `${of} deleted`, await situations.remove(stage, names, limits));
    }
  } finally {
    await stage.close();
  }
}

async function upstreamPlace(kubectl: string): Promise<UpstreamPlace | undefined> {
  const clusterApi = await clusterApiBinaries(kubectl);
  const capo = "dir" in clusterApi ? await capoBinaries(kubectl) : clusterApi;
  if ("dir" in clusterApi && "dir" in capo)
    return { clusterApi: clusterApi.dir, capo: capo.dir, syncPeriod: values["sync-period"] };
  console.error(`ours alone: ${"reason" in capo ? capo.reason : ""}`);
  return undefined;
}

try {
  // A later run of one side adds to what an earlier one wrote.
  if (values.side !== undefined && values.json !== undefined && existsSync(values.json))
    for (const row of (JSON.parse(readFileSync(values.json, "utf8")) as { rows: Row[] }).rows) rows.set(row.name, row);
  const kubernetes = await kubernetesBinaries(["etcd", "kube-apiserver", "kubectl"]);
  if ("reason" in kubernetes) throw new Error(`the benchmark needs a kube-apiserver: ${kubernetes.reason}`);
  const upstream = values.side === "ours" ? undefined : await upstreamPlace(join(kubernetes.dir, "kubectl"));
  const options: Omit<StageOptions, "side"> = {
    base,
    binaries: kubernetes.dir,
    upstream,
    controlPlanes: CONTROL_PLANES,
    workers,
    boot: Number(values.boot),
    ...(values.routes ? { explain } : {}),
  };
  for (const side of ["ours", "upstream"] as const)
    if ((values.side ?? side) === side && (side === "ours" || upstream !== undefined)) await measure(side, options);
} finally {
  rmSync(base, { recursive: true, force: true });
}
console.log(printed([...rows.values()]));
