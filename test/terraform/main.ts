/**
 * `npm run test:terraform [-- --cloud simulated|real --service NAME --run REGEX --limit SECONDS]`: the acceptance tests
 * of the Terraform provider for OpenStack against a cloud: the simulated one, or the one that OS_CLIENT_CONFIG_FILE and
 * OS_CLOUD name (default: devcloud), whose NAME-admin is its administrator. Builds them with Go at first, into the
 * user's cache directory. The results are kept in docs/reference/terraform/NAME.json and docs/reference/terraform.md is
 * rewritten; with --run those of the tests that ran. `--cloud page` only writes the page. Ends with 0 whatever became
 * of the tests: the page says which fail, and why.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runPackage } from "../gophercloud/run.ts";
import { openCloud } from "../support/suite-cloud.ts";
import { openSystemCloud } from "../support/system-cloud.ts";
import { closingLine, cloudRecord, keepRecord, runSince, writePage, type TestResult } from "../support/suite-record.ts";
import { openTerraformPlace } from "./place.ts";
import { terraformPrograms, type TerraformPrograms } from "./programs.ts";
import { withoutInternet } from "./internet.ts";
import { patterns, terraformSuite } from "./suite.ts";

/** Milliseconds: the tests poll for statuses on the way. */
const delays = { "server.create": 500 };

/** Tests that use the provider before Terraform has configured it pass only after another test of their process. */
const primer = { reason: /is nil, not \*openstack\.Config/, test: "TestAccBlockStorageV3AvailabilityZonesV3_basic" };

/** The simulated cloud has it only with the whole system behind it. */
const MAGNUM = "containerinfra";

interface Options {
  readonly cloud: "simulated" | "real";
  readonly run: string | undefined;
  readonly limit: number;
}

async function runService(
  service: string,
  programs: TerraformPrograms,
  options: Options,
): Promise<readonly TestResult[]> {
  const started = performance.now();
  const name = options.cloud === "real" ? (process.env["OS_CLOUD"] ?? options.cloud) : options.cloud;
  const opened = name === "simulated" && service === MAGNUM ? await openSystemCloud() : await openCloud(name, delays);
  const place = await openTerraformPlace(opened.cloud);
  const folder = mkdtempSync(join(tmpdir(), "terraform-"));
  const common = {
    ...programs.variables,
    TF_ACC: "1",
    TF_ACC_TERRAFORM_PATH: programs.terraform,
    TF_CLI_CONFIG_FILE: "/dev/null",
    TF_ACC_TEMP_DIR: folder,
    CHECKPOINT_DISABLE: "1",
  };
  try {
    const { admin, others } = place.accounts;
    const all = await runPackage(
      { name: service, file: service === MAGNUM ? programs.clusterTests : programs.tests },
      {
        admin: { ...admin, ...common },
        others: new Map([...others].map(([reason, variables]) => [reason, { ...variables, ...common }])),
        wanted: wantedTests(service, options.run),
        limit: options.limit,
        primer,
      },
    );
    const results = all.map((result) => withoutInternet(result, options.cloud));
    const record = cloudRecord(results, `${service}.`, runSince(started));
    keepRecord(terraformSuite, { service, cloud: opened.recordAs, record, part: options.run !== undefined });
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await place.close();
    await opened.close();
  }
}

/** Over "service.Test": of the service, and what --run names. */
function wantedTests(service: string, run: string | undefined): RegExp {
  const own = (patterns[service] ?? /^$/).source.replace("^", "");
  return new RegExp(`^${service}\\.(?=${own})(?=.*(?:${run ?? ""}))`);
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      cloud: { type: "string", default: "simulated" },
      service: { type: "string" },
      run: { type: "string" },
      limit: { type: "string", default: "300" },
    },
  });
  const { cloud, service, run } = values;
  if (cloud === "page") {
    writePage(terraformSuite);
    return 0;
  }
  if (cloud !== "simulated" && cloud !== "real") throw new Error("--cloud is simulated, real or page");
  const services = terraformSuite.services.filter((name) => service === undefined || name === service);
  if (services.length === 0) throw new Error(`--service is one of: ${terraformSuite.services.join(", ")}`);
  const programs = await terraformPrograms();
  if ("reason" in programs) {
    console.log(`skipped: no acceptance tests here: ${programs.reason}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const all: TestResult[] = [];
  for (const name of services)
    all.push(...(await runService(name, programs, { cloud, run, limit: Number(values.limit) })));
  console.log(closingLine(all));
  return 0;
}

process.exitCode = await main();
