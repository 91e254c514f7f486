/**
 * `npm run test:openstacksdk [-- --cloud simulated|real --service NAME --run REGEX]`: openstacksdk's functional tests
 * (tools/openstacksdk, installed from PyPI once) against a cloud. What became of each test is kept in
 * docs/reference/openstacksdk/NAME.json, and docs/reference/openstacksdk.md is rewritten; with --run (names of tests of
 * the service) of those tests only. `--cloud page` only writes the page.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { runStestr, type Python } from "../support/stestr.ts";
import { openCloud, type OpenedCloud } from "../support/suite-cloud.ts";
import { openSystemCloud } from "../support/system-cloud.ts";
import { closingLine, cloudRecord, keepRecord, runSince, writePage, type TestResult } from "../support/suite-record.ts";
import { sdkPython, tools } from "./environment.ts";
import { sdkServices, sdkSuite, type SdkService } from "./services.ts";

/** Seconds that one test may take, and that one awaited state may take. */
const [TEST_TIMEOUT, STATE_TIMEOUT] = ["180", "90"];

/** The service whose tests also call the Magnum API: run by itself, it is on the whole system. */
const WITH_MAGNUM = "cloud";

interface Bench {
  readonly opened: OpenedCloud;
  readonly with: Python;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Accounts of the run's own on the cloud, and the environment that the tests find them by. */
async function stage(opened: OpenedCloud, python: Python): Promise<Bench & { readonly clear: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "openstacksdk-"));
  const administrator = join(folder, "administrator.yaml");
  writeFileSync(administrator, opened.cloud.text, { mode: 0o600 });
  // A test uploads this file, which it expects in the folder that it is run in.
  writeFileSync(join(folder, "CONTRIBUTING.rst"), "Some text to upload.\n");
  const file = join(folder, "clouds.yaml");
  // Not spawnSync: a simulated cloud answers in this process.
  const order = async (what: "make" | "clear"): Promise<void> => {
    const child = spawn(python.python, [join(tools, "stage.py"), what, opened.cloud.cloud, file], {
      env: { ...process.env, OS_CLIENT_CONFIG_FILE: administrator },
      stdio: ["ignore", "inherit", "inherit"],
    });
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0) throw new Error(`stage.py ${what} ended with ${String(code)}`);
  };
  await order("make").catch(async (problem: unknown) => {
    await order("clear");
    throw problem;
  });
  const env = {
    PATH: `${dirname(python.python)}${delimiter}${process.env["PATH"] ?? ""}`,
    PYTHONPATH: join(tools, "site"),
    OS_CLIENT_CONFIG_FILE: file,
    OS_CLOUD: "devstack-admin",
    OS_TEST_TIMEOUT: TEST_TIMEOUT,
    OPENSTACKSDK_FUNC_TEST_TIMEOUT: STATE_TIMEOUT,
  };
  return { opened, with: python, folder, env, clear: () => order("clear") };
}

async function runService(service: SdkService, bench: Bench, pattern: string | undefined): Promise<TestResult[]> {
  const start = performance.now();
  const results = await runStestr({
    ...bench,
    package: service.package,
    tests: `^${service.package.replaceAll(".", "\\.")}\\..*(?:${pattern ?? ""})`,
    // One: some tests count what others make.
    workers: 1,
  });
  if (results.length > 0) {
    const record = cloudRecord(results, `${service.package}.`, runSince(start));
    const cloud = bench.opened.recordAs;
    keepRecord(sdkSuite, { service: service.name, cloud, record, part: pattern !== undefined });
  }
  for (const { id, status, reason } of results) if (status === "fail") console.log(`FAILED ${id}: ${reason}`);
  return results;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      cloud: { type: "string", default: "simulated" },
      service: { type: "string" },
      run: { type: "string" },
    },
  });
  if (values.cloud === "page") {
    writePage(sdkSuite);
    return 0;
  }
  const chosen = sdkServices
    .filter(({ name }) => values.service === undefined || name === values.service)
    .filter(({ simulatedOnly }) => simulatedOnly !== true || values.cloud === "simulated");
  if (chosen.length === 0) throw new Error(`--service is one of: ${sdkServices.map((s) => s.name).join(", ")}`);
  const python = sdkPython();
  if ("reason" in python) {
    console.log(`skipped: ${python.reason}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const whole = values.cloud === "simulated" && chosen.every(({ name }) => name === WITH_MAGNUM);
  const opened = whole ? await openSystemCloud() : await openCloud(values.cloud);
  const all: TestResult[] = [];
  try {
    for (const service of chosen) {
      const bench = await stage(opened, python);
      try {
        all.push(...(await runService(service, bench, values.run)));
      } finally {
        await bench.clear();
      }
    }
  } finally {
    await opened.close();
  }
  console.log(closingLine(all));
  return 0;
}

process.exitCode = await main();
