/**
 * `npm run test:orc [-- --service NAME --run TEST --parallel N]`: the kuttl suites of openstack-resource-controller,
 * with its own manager, on the embedded API server and a simulated cloud. Builds the programs with Go at first, into
 * the user's cache directory. The results are kept in docs/reference/orc/NAME.json and docs/reference/orc.md is
 * rewritten. `--service page` only writes the page. Ends with 0 whatever became of the tests: the page says which fail,
 * and why.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { parseArgs } from "node:util";
import { execute } from "../programs/run.ts";
import { closingLine, cloudRecord, keepRecord, runSince, writePage, type TestResult } from "../support/suite-record.ts";
import { openPlace, type OrcPlace } from "./place.ts";
import { orcPrograms, type OrcPrograms } from "./programs.ts";
import { resultsOf } from "./report.ts";
import { orcSuite } from "./suite.ts";
import { copySuite } from "./suites.ts";

/** Seconds that a step of a test may take, and milliseconds that a suite may. */
const [STEP, WHOLE] = [90, 1_500_000];

interface Options {
  readonly run: string | undefined;
  readonly parallel: string;
}

async function runSuite(
  controller: string,
  { programs, place, dir }: { programs: OrcPrograms; place: OrcPlace; dir: string },
  options: Options,
): Promise<readonly TestResult[]> {
  const started = performance.now();
  const tests = copySuite(programs.module, controller, { dir, images: place.images });
  const reports = join(dir, `report-${controller}`);
  const args = ["test", tests, "--timeout", String(STEP), "--parallel", options.parallel, "--artifacts-dir", dir];
  args.push("--report", "JSON", "--report-granularity", "test", "--report-name", `report-${controller}`);
  if (options.run !== undefined) args.push("--test", options.run);
  const env = { ...place.variables, PATH: `${programs.kubectl}${delimiter}${process.env["PATH"] ?? ""}` };
  const { stdout, stderr } = await execute(programs.kuttl, args, { env, timeout: WHOLE });
  const report = JSON.parse(readFileSync(`${reports}.json`, "utf8")) as unknown;
  const results = resultsOf(report, stdout + stderr);
  for (const { id, status, reason } of results) console.log(`${status} ${id}${reason === "" ? "" : `: ${reason}`}`);
  const record = cloudRecord(results, "", runSince(started));
  keepRecord(orcSuite, { service: controller, cloud: "simulated", record, part: options.run !== undefined });
  return results;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { service: { type: "string" }, run: { type: "string" }, parallel: { type: "string", default: "4" } },
  });
  const { service, run, parallel } = values;
  if (service === "page") {
    writePage(orcSuite);
    return 0;
  }
  const controllers = orcSuite.services.filter((name) => service === undefined || name === service);
  if (controllers.length === 0) throw new Error(`--service is one of: ${orcSuite.services.join(", ")}`);
  const programs = await orcPrograms();
  if ("reason" in programs) {
    console.log(`skipped: no suites here: ${programs.reason}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const dir = mkdtempSync(join(tmpdir(), "orc-"));
  const place = await openPlace(programs, dir);
  const all: TestResult[] = [];
  try {
    for (const name of controllers) all.push(...(await runSuite(name, { programs, place, dir }, { run, parallel })));
  } finally {
    await place.close();
    rmSync(dir, { recursive: true, force: true });
  }
  console.log(closingLine(all));
  return 0;
}

process.exitCode = await main();
