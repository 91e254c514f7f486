/**
 * Started by `npm run test:e2e:storage`: the external-storage specs of Kubernetes' e2e suite with our Cinder driver, on
 * real nodes and a real OpenStack. Arguments: names of groups.ts, or --all.
 */
import { spawn } from "node:child_process";
import { mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { outcomesOf, type Outcome } from "../report.ts";
import { startStorageCluster, STORAGE_CLASS } from "./cluster.ts";
import { testDriver } from "./driver.ts";
import { GROUPS, SKIPPED, WHOLE } from "./groups.ts";
import type { UpstreamPrograms } from "./upstream.ts";

const programs = process.env["CAUSEWAY_E2E_PROGRAMS"] ?? "";
const binaries = process.env["CAUSEWAY_KUBERNETES_BINARIES"] ?? "";
const image = process.env["CAUSEWAY_CSI_IMAGE"] ?? "";
/** Most of a spec's time is waiting. */
const AT_ONCE = Number(process.env["CAUSEWAY_E2E_AT_ONCE"] ?? 2);

interface Played {
  readonly group: string;
  readonly outcomes: readonly Outcome[];
  /** Whether the suite came to its end. */
  readonly isWhole: boolean;
}

/** Runs one group; what the suite prints is in a file of its name. */
async function play(
  group: string,
  focus: readonly string[],
  { kubeconfig, driver, logs }: { readonly kubeconfig: string; readonly driver: string; readonly logs: string },
): Promise<Played> {
  const file = join(logs, group.replaceAll(" ", "-"));
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--kubectl-path=${join(binaries, "kubectl")}`,
    "--provider=skeleton",
    "--num-nodes=2",
    `--storage.testdriver=${driver}`,
    ...focus.map((pattern) => `--ginkgo.focus=External Storage.*${pattern}`),
    `--ginkgo.skip=${SKIPPED}`,
    `--ginkgo.json-report=${file}.json`,
    "--ginkgo.no-color",
    "--ginkgo.v",
    "--ginkgo.timeout=6h",
  ];
  const log = openSync(`${file}.log`, "a", 0o600);
  const child = spawn(join(programs, "e2e-storage"), args, { stdio: ["ignore", log, log] });
  const code = await new Promise((done) => child.once("close", done));
  const outcomes = outcomesOf(`${file}.json`);
  const passed = outcomes.filter(({ state }) => state === "passed").length;
  console.log(`${group}: ${passed} of ${outcomes.length} passed`);
  return { group, outcomes, isWhole: outcomes.length > 0 && (code === 0 || passed < outcomes.length) };
}

async function playAll(chosen: Readonly<Record<string, readonly string[]>>): Promise<Played[]> {
  const rig = await startStorageCluster(image, upstreamPrograms());
  try {
    const logs = process.env["CAUSEWAY_E2E_LOGS"] ?? join(rig.dir, "e2e");
    mkdirSync(logs, { recursive: true });
    const driver = join(rig.dir, "testdriver.json");
    writeFileSync(driver, JSON.stringify(testDriver(STORAGE_CLASS)));
    const waiting = Object.entries(chosen);
    const played: Played[] = [];
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        played.push(await play(next[0], next[1], { kubeconfig: rig.kubeconfig, driver, logs }));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return played;
  } finally {
    await rig.close();
  }
}

/** With --upstream: scripts/test-e2e-storage.ts has built them. */
function upstreamPrograms(): UpstreamPrograms | undefined {
  const [driver, sidecars] = [process.env["CAUSEWAY_UPSTREAM_CSI"], process.env["CAUSEWAY_SIDECARS"]];
  if (driver === undefined || sidecars === undefined) return undefined;
  return { driver, sidecars, image: process.env["CAUSEWAY_UPSTREAM_CSI_IMAGE"] ?? "", registrar: image };
}

function chosenGroups(names: readonly string[]): Readonly<Record<string, readonly string[]>> {
  if (names.includes("--all")) return WHOLE;
  const unknown = names.find((name) => GROUPS[name] === undefined);
  if (unknown !== undefined) throw new Error(`no group ${unknown}; there are ${Object.keys(GROUPS).join(", ")}`);
  return names.length === 0 ? GROUPS : Object.fromEntries(names.map((name) => [name, GROUPS[name] ?? []]));
}

async function main(): Promise<number> {
  const played = await playAll(chosenGroups(process.argv.slice(2)));
  let [passed, failed] = [0, 0];
  for (const { group, outcomes, isWhole } of played) {
    for (const { name, state, seconds, failure = "" } of outcomes) {
      if (state === "passed") passed += 1;
      else failed += 1;
      const short = name.replace(/^External Storage \[Driver: [^\]]*\] /, "");
      console.log(`${group}: ${state} ${short} (${seconds} s)${failure === "" ? "" : `: ${failure.slice(0, 1000)}`}`);
    }
    if (!isWhole) failed += 1;
    if (!isWhole) console.log(`${group}: the suite ended early`);
  }
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
