import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { outcomesOf, type Outcome } from "../report.ts";

/** How the suite is run. */
export interface Suite {
  readonly program: string;
  readonly kubeconfig: string;
  readonly kubectl: string;
  /** For reports and logs. */
  readonly dir: string;
}

/** Milliseconds that a run may take after the suite's own limit. */
const GRACE = 60_000;
const MINUTE = 60_000;

/** The names of all conformance specs. */
export async function conformanceSpecs(suite: Suite): Promise<string[]> {
  const outcomes = await run(suite, "specs", [String.raw`--ginkgo.focus=\[Conformance\]`, "--ginkgo.dry-run"], 15);
  if (outcomes.length === 0) throw new Error(`the suite named no specs: see ${join(suite.dir, "specs.log")}`);
  return [...new Set(outcomes.map(({ name }) => name))].sort();
}

/** Runs these specs one after the other; an outcome for each that the suite came to. */
export function runSpecs(suite: Suite, piece: string, names: readonly string[], minutes: number): Promise<Outcome[]> {
  const focus = names.map((name) => `--ginkgo.focus=${name.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}$`);
  return run(suite, piece, focus, minutes);
}

async function run(suite: Suite, piece: string, more: readonly string[], minutes: number): Promise<Outcome[]> {
  const report = join(suite.dir, `${piece}.json`);
  const args = [
    `--kubeconfig=${suite.kubeconfig}`,
    `--kubectl-path=${suite.kubectl}`,
    "--provider=skeleton",
    "--num-nodes=2",
    "--disable-log-dump=true",
    `--ginkgo.json-report=${report}`,
    "--ginkgo.no-color",
    `--ginkgo.timeout=${minutes}m`,
    ...more,
  ];
  const log = openSync(join(suite.dir, `${piece}.log`), "a", 0o600);
  // Half of what its start takes is its collection of garbage.
  const env = { GOGC: "400", ...process.env };
  const child = spawn(suite.program, args, { env, stdio: ["ignore", log, log], timeout: minutes * MINUTE + GRACE });
  closeSync(log);
  await new Promise((done) => child.once("close", done));
  return outcomesOf(report, { withSkipped: true });
}
