import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerName } from "../../contracts/kubernetes/interface.ts";
import { outcomesOf, type Outcome } from "../report.ts";
import { startControlPlane, type ControlPlane, type Controllers } from "./control-plane.ts";

const programs = process.env["CAUSEWAY_E2E_PROGRAMS"] ?? "";
const binaries = process.env["CAUSEWAY_KUBERNETES_BINARIES"] ?? "";
/** Most of a spec's time is waiting. */
const AT_ONCE = 4;
const LONGEST = 1_500_000;

/** By group, texts that only the full names of its specs have. */
export type Groups = Readonly<Record<string, readonly string[]>>;

/** A server, and who runs its workloads. */
export interface Setup {
  /** As the results are printed. */
  readonly name: string;
  readonly server: ServerName;
  readonly controllers: Controllers;
  readonly groups: Groups;
  /** Groups that run after the others, one by one: their specs change what the whole cluster has. */
  readonly alone?: readonly string[];
}

interface Played {
  readonly setup: string;
  readonly group: string;
  readonly outcomes: readonly Outcome[];
  /** Specs that were to run and did not. */
  readonly missing: readonly string[];
}

/** Runs one group on one cluster; what the suite prints is kept until the end of the run. */
async function play({ name: setup, groups }: Setup, plane: ControlPlane, group: string, dir: string): Promise<Played> {
  const specs = groups[group] ?? [];
  const report = join(dir, `${group}.json`);
  const args = [
    `--kubeconfig=${plane.kubeconfig}`,
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
  console.log(`${setup}: ${group}: ${passed} of ${specs.length} passed`);
  return { setup, group, outcomes, missing };
}

/** A regular expression for full names that end in this text, but for labels. */
function pattern(text: string): string {
  return `${text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}( \\[|$)`;
}

/** Runs these groups. `CAUSEWAY_E2E_LOGS` names a folder that keeps what the suite and the servers print. */
async function playAll(setup: Setup, chosen: readonly string[]): Promise<Played[]> {
  const { name, server, controllers, alone = [] } = setup;
  const kept = process.env["CAUSEWAY_E2E_LOGS"];
  const dir = kept ? join(kept, name) : mkdtempSync(join(tmpdir(), `causeway-e2e-${name}-`));
  mkdirSync(join(dir, "plane"), { recursive: true });
  const plane = await startControlPlane(server, { programs, binaries, dir: join(dir, "plane") }, controllers);
  const played: Played[] = [];
  const run = async (waiting: string[]): Promise<void> => {
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
      played.push(await play(setup, plane, group, dir));
    }
  };
  try {
    const together = chosen.filter((group) => !alone.includes(group));
    await Promise.all(Array.from({ length: AT_ONCE }, () => run(together)));
    await run(chosen.filter((group) => alone.includes(group)));
    return played;
  } finally {
    await plane.close();
    if (!kept) rmSync(dir, { recursive: true, force: true });
  }
}

/** Prints what did not pass, and the sum; the exit code. */
function report(played: readonly Played[]): number {
  let [passed, failed] = [0, 0];
  for (const { setup, group, outcomes, missing } of played) {
    for (const { name, state, seconds, failure = "" } of outcomes) {
      if (state === "passed") passed += 1;
      else console.log(`${setup}: ${group}: ${state} ${name} (${seconds} s): ${failure.slice(0, 500)}`);
    }
    for (const spec of missing) console.log(`${setup}: ${group}: did not run: ${spec}`);
    failed += missing.length + outcomes.filter(({ state }) => state !== "passed").length;
  }
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  return failed === 0 ? 0 : 1;
}

/** Those of `all` that the command line names, or all. */
function chosen<T extends string>(all: readonly T[]): readonly T[] {
  const wanted = all.filter((one) => process.argv.slice(2).includes(one));
  return wanted.length > 0 ? wanted : all;
}

/** Plays the setups one after the other; the exit code. */
export async function playSetups(setups: readonly Setup[]): Promise<number> {
  const played: Played[] = [];
  const wanted = chosen(setups.map(({ name }) => name));
  for (const setup of setups.filter(({ name }) => wanted.includes(name))) {
    played.push(...(await playAll(setup, chosen(Object.keys(setup.groups)))));
  }
  return report(played);
}
