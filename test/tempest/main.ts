/**
 * `npm run test:tempest [-- --cloud simulated|real --service NAME --classes REGEX --tests REGEX --workers N]`: tempest,
 * octavia-tempest-plugin and magnum-tempest-plugin of Debian 12 (installed if they are missing, which needs root)
 * against a cloud. The results are kept in docs/reference/tempest/NAME.json and docs/reference/tempest.md is rewritten;
 * with --classes those of the named classes only, which replace what was known of these; with --tests (names of that
 * service) nothing is kept. `--cloud page` only writes the page. REGEX of --classes matches after the service's prefix:
 * `--service network --classes admin.test_quotas`. `--collect FOLDER` keeps what a run that was broken off had found by
 * then; FOLDER is what it printed first.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { brokenOff } from "../support/stestr.ts";
import { openCloud, type OpenedCloud } from "../support/suite-cloud.ts";
import { openSystemCloud } from "../support/system-cloud.ts";
import { tempestConf } from "./configuration.ts";
import { closingLine, cloudRecord, keepRecord, runSince, writePage, type TestResult } from "../support/suite-record.ts";
import { debian, runTempest } from "./run.ts";
import { tempestServices, tempestSuite, type TempestService } from "./services.ts";

const packages = ["tempest", "octavia-tempest-plugin", "magnum-tempest-plugin"];

/** Why tempest cannot be run here; undefined when it can. */
function obstacle(): string | undefined {
  if (spawnSync("dpkg-query", ["--show", "python3-stestr", ...packages]).status === 0) return undefined;
  if (process.getuid?.() !== 0) return "tempest is not installed, and installing it needs root";
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = ["install", "-y", "-q", "--no-install-recommends", ...packages];
  const { status } = spawnSync("apt-get", install, { env, stdio: ["ignore", "inherit", "inherit"] });
  return status === 0 ? undefined : `apt-get install ${packages.join(" ")} ended with ${String(status)}`;
}

interface Selection {
  /** Tests without a record. */
  readonly tests: string | undefined;
  /** Whole classes or modules, to be merged into the record. */
  readonly classes: string | undefined;
  readonly workers: number;
}

async function runService(
  service: TempestService,
  opened: OpenedCloud,
  wish: Selection,
): Promise<readonly TestResult[]> {
  const folder = mkdtempSync(join(tmpdir(), `tempest-${service.name}-`));
  console.log(`${service.name}: ${folder}`);
  const start = performance.now();
  const configuration = await tempestConf({ ...opened.cloud, provider: service.provider }, folder);
  const tests = wish.tests ?? `^${service.prefix.replaceAll(".", "\\.")}(?:${wish.classes ?? ""})`;
  const results = await runTempest({
    folder,
    configuration,
    package: service.prefix.slice(0, -1),
    tests,
    workers: wish.workers,
    isolated: service.isolated,
  });
  if (wish.tests === undefined && results.length > 0) {
    const record = cloudRecord(results, service.prefix, runSince(start));
    const part = wish.classes !== undefined;
    keepRecord(tempestSuite, { service: service.name, cloud: opened.recordAs, record, part });
  }
  for (const { id, status, reason } of results) if (status === "fail") console.log(`FAILED ${id}: ${reason}`);
  return results;
}

/** Keeps what a broken run of the first of these services had found. Its duration is not known, and is not counted. */
async function collect(folder: string, cloud: string, [service]: readonly TempestService[]): Promise<number> {
  if (!service) throw new Error("--collect needs --service");
  const results = await brokenOff(folder, debian);
  const run = { ...runSince(performance.now()), seconds: 0 };
  const record = cloudRecord(results, service.prefix, run);
  const as = cloud === "simulated" ? "simulated" : "real";
  keepRecord(tempestSuite, { service: service.name, cloud: as, record, part: true });
  console.log(`${results.length} results kept`);
  return 0;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      cloud: { type: "string", default: "simulated" },
      service: { type: "string" },
      classes: { type: "string" },
      tests: { type: "string" },
      workers: { type: "string", default: "2" },
      collect: { type: "string" },
    },
  });
  if (values.cloud === "page") {
    writePage(tempestSuite);
    return 0;
  }
  const chosen = tempestServices
    .filter(({ name }) => values.service === undefined || name === values.service)
    .filter(({ provider }) => provider === undefined || values.cloud === "simulated");
  if (chosen.length === 0) throw new Error(`--service is one of: ${tempestServices.map((s) => s.name).join(", ")}`);
  if (values.collect !== undefined) return collect(values.collect, values.cloud, chosen);
  const why = obstacle();
  if (why !== undefined) {
    console.log(`skipped: ${why}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const { cloud, tests, classes } = values;
  const all: TestResult[] = [];
  for (const service of (tests ?? classes) === undefined ? chosen : chosen.slice(0, 1)) {
    const opened = cloud === "simulated" && service.system ? await openSystemCloud() : await openCloud(cloud);
    try {
      all.push(...(await runService(service, opened, { tests, classes, workers: Number(values.workers) })));
    } finally {
      await opened.close();
    }
  }
  console.log(closingLine(all));
  return 0;
}

process.exitCode = await main();
