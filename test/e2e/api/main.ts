/**
 * Started by `npm run test:e2e:api`: the specs of Kubernetes' e2e suite that groups.ts names, on kube-apiserver with etcd and on
 * `causeway apiserver`, each with Kubernetes' own controllers, scheduler and hollow nodes. Arguments: names of groups or of a server.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerName } from "../../contracts/kubernetes/interface.ts";
import { outcomesOf, type Outcome } from "../report.ts";
import { startControlPlane, type ControlPlane } from "./control-plane.ts";
import { GROUPS } from "./groups.ts";

const programs = process.env["CAUSEWAY_E2E_PROGRAMS"] ?? "";
const binaries = process.env["CAUSEWAY_KUBERNETES_BINARIES"] ?? "";
const SERVERS: readonly ServerName[] = ["kube-apiserver", "causeway"];
/** Most of a spec's time is waiting. */
const AT_ONCE = 4;
const LONGEST = 1_500_000;

interface Played {
  readonly server: ServerName;
  readonly group: string;
  readonly outcomes: readonly Outcome[];
  /** Specs that were asked for and did not run. */
  readonly missing: readonly string[];
}

/** Runs one group on one server; what the suite prints is kept until the end of the run. */
async function play({ name: server, kubeconfig }: ControlPlane, group: string, dir: string): Promise<Played> {
  const specs = GROUPS[group] ?? [];
  const report = join(dir, `${group}.json`);
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--kubectl-path=${join(binaries, "kubectl")}`,
    "--provider=skeleton",
    "--num-nodes=2",
    "--disable-log-dump=true",
    ...specs.map((spec) => `--ginkgo.focus=${pattern(spec)}`),
    `--ginkgo.json-report=${report}`,
    "--ginkgo.no-color",
    "--ginkgo.timeout=20m",
  ];
  const log = openSync(join(dir, `${group}.log`), "a", 0o600);
  const child = spawn(join(programs, "e2e-api"), args, { stdio: ["ignore", log, log], timeout: LONGEST });
  await new Promise((done) => child.once("close", done));
  const outcomes = outcomesOf(report);
  const missing = specs.filter((spec) => !outcomes.some(({ name }) => name.includes(spec)));
  const passed = outcomes.filter(({ state }) => state === "passed").length;
  console.log(`${server}: ${group}: ${passed} of ${specs.length} passed`);
  return { server, group, outcomes, missing };
}

/** A regular expression for full names that end in this text, but for labels. */
function pattern(text: string): string {
  return `${text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}( \\[|$)`;
}

async function playAll(server: ServerName, groups: readonly string[]): Promise<Played[]> {
  const dir = mkdtempSync(join(tmpdir(), `causeway-e2e-api-${server}-`));
  mkdirSync(join(dir, "plane"));
  const plane = await startControlPlane(server, { programs, dir: join(dir, "plane") });
  try {
    const waiting = [...groups];
    const played: Played[] = [];
    const worker = async (): Promise<void> => {
      for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
        played.push(await play(plane, group, dir));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return played;
  } finally {
    await plane.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

function chosen<T extends string>(all: readonly T[]): readonly T[] {
  const wanted = all.filter((one) => process.argv.slice(2).includes(one));
  return wanted.length > 0 ? wanted : all;
}

async function main(): Promise<number> {
  const played: Played[] = [];
  for (const server of chosen(SERVERS)) played.push(...(await playAll(server, chosen(Object.keys(GROUPS)))));
  let [passed, failed] = [0, 0];
  for (const { server, group, outcomes, missing } of played) {
    for (const { name, state, seconds, failure = "" } of outcomes) {
      if (state === "passed") passed += 1;
      else console.log(`${server}: ${group}: ${state} ${name} (${seconds} s): ${failure.slice(0, 500)}`);
    }
    for (const spec of missing) console.log(`${server}: ${group}: did not run: ${spec}`);
    failed += missing.length + outcomes.filter(({ state }) => state !== "passed").length;
  }
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
