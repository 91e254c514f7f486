/**
 * `npm run test:gophercloud [-- --cloud simulated|real --service NAME --run REGEX --limit SECONDS]`: gophercloud's
 * acceptance tests against a cloud: the simulated one, or the one that OS_CLIENT_CONFIG_FILE and OS_CLOUD name
 * (default: devcloud), whose NAME-admin is its administrator. Builds them with Go at first, into the user's cache
 * directory. The results are kept in docs/reference/gophercloud/NAME.json and docs/reference/gophercloud.md is
 * rewritten; with --run (over "package.Test") those of the tests that ran. `--cloud page` only writes the page. Ends
 * with 0 whatever became of the tests: the page says which differ.
 */
import { parseArgs } from "node:util";
import { openCloud } from "../support/suite-cloud.ts";
import { openSystemCloud } from "../support/system-cloud.ts";
import { closingLine, cloudRecord, keepRecord, runSince, writePage, type TestResult } from "../support/suite-record.ts";
import { MAGNUM, testPackages } from "./packages.ts";
import { openPlace } from "./place.ts";
import { runPackage } from "./run.ts";
import { gophercloudSuite } from "./suite.ts";

/** Milliseconds: tests poll once a second for a status on the way, and for what has happened since one. */
const delays = { "server.create": 1500, "server.reboot": 2500, "server.rebuild": 2500 };

interface Selection {
  readonly cloud: "simulated" | "real";
  readonly run: string | undefined;
  readonly limit: number;
}

/** The tests of one service; or why there are none. */
async function runService(
  service: string,
  wish: Selection,
): Promise<readonly TestResult[] | { readonly reason: string }> {
  const packages = await testPackages(service);
  if ("reason" in packages) return packages;
  const started = performance.now();
  const opened =
    wish.cloud === "simulated" && service === MAGNUM
      ? await openSystemCloud()
      : await openCloud(wish.cloud === "real" ? (process.env["OS_CLOUD"] ?? wish.cloud) : wish.cloud, delays);
  const place = await openPlace(opened.cloud);
  const results: TestResult[] = [];
  try {
    const run = { ...place.accounts, wanted: new RegExp(wish.run ?? ""), limit: wish.limit };
    for (const tests of packages) results.push(...(await runPackage(tests, run)));
    const record = cloudRecord(results, "", runSince(started));
    keepRecord(gophercloudSuite, { service, cloud: opened.recordAs, record, part: wish.run !== undefined });
  } finally {
    await place.close();
    await opened.close();
  }
  return results;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      cloud: { type: "string", default: "simulated" },
      service: { type: "string" },
      run: { type: "string" },
      limit: { type: "string" },
    },
  });
  const { cloud, service, run } = values;
  if (cloud === "page") {
    writePage(gophercloudSuite);
    return 0;
  }
  if (cloud !== "simulated" && cloud !== "real") throw new Error("--cloud is simulated, real or page");
  const services = gophercloudSuite.services.filter((name) => service === undefined || name === service);
  if (services.length === 0) throw new Error(`--service is one of: ${gophercloudSuite.services.join(", ")}`);
  const limit = Number(values.limit ?? (cloud === "simulated" ? 60 : 240));
  const all: TestResult[] = [];
  for (const name of services) {
    const found = await runService(name, { cloud, run, limit });
    if ("reason" in found) {
      console.log(`skipped: no acceptance tests here: ${found.reason}\n0 passed, 0 failed, 1 skipped`);
      return 0;
    }
    all.push(...found);
  }
  console.log(closingLine(all));
  return 0;
}

process.exitCode = await main();
