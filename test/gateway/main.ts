/**
 * `npm run test:gateway [-- --run TEST --page]`: the Gateway API's conformance suite against `causeway run
 * octavia-ingress` on the embedded API server and the simulated cloud with its data path. Builds the suite with Go at
 * first, into the user's cache directory. A whole run is kept in docs/reference/gateway-conformance and writes
 * docs/reference/gateway-conformance.md; `--page` only writes the page. Ends with 0 whatever became of the tests: the
 * page says which fail, and why; with 1 when none has run.
 */
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { stringify } from "yaml";
import { execute } from "../programs/run.ts";
import { closingLine } from "../support/suite-record.ts";
import { keep, recordOf, writePage } from "./page.ts";
import { GATEWAY_CLASS, openPlace } from "./place.ts";
import { gatewayPrograms } from "./programs.ts";
import { resultsOf } from "./results.ts";

/** Milliseconds that the suite may take. */
const WHOLE = 3_600_000;

/** The suite's own times are for clouds that take minutes. */
const timeouts = {
  gatewayMustHaveAddress: "20s",
  gatewayMustHaveCondition: "20s",
  gatewayStatusMustHaveListeners: "20s",
  gatewayListenersMustHaveConditions: "20s",
  httpRouteMustNotHaveParents: "20s",
  httpRouteMustHaveCondition: "20s",
  tlsRouteMustHaveCondition: "20s",
  routeMustHaveParents: "20s",
  latestObservedGenerationSet: "20s",
  maxTimeToConsistency: "12s",
  testIsolation: "0s",
};

/** Whether listeners of VIPs can have the ports that the suite connects to. */
function mayListen(): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once("error", () => done(false));
    server.listen(80, "127.88.0.2", () => server.close(() => done(true)));
  });
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { run: { type: "string" }, page: { type: "boolean", default: false } } });
  if (values.page) {
    writePage();
    return 0;
  }
  const programs = await gatewayPrograms();
  const missing = "reason" in programs ? programs.reason : (await mayListen()) ? undefined : "port 80 cannot be had";
  if ("reason" in programs || missing !== undefined) {
    console.log(`skipped: no suite here: ${missing}\n0 passed, 0 failed, 1 skipped`);
    return 0;
  }
  const place = await openPlace(programs);
  try {
    const options = join(place.dir, "options.yaml");
    const profiles = ["GATEWAY-HTTP", "GATEWAY-TLS"];
    const given = { gatewayClassName: GATEWAY_CLASS, conformanceProfiles: profiles, timeoutConfig: timeouts };
    writeFileSync(options, stringify(given));
    const args = [
      "-test.v",
      "-test.run",
      "^TestConformance$",
      "-test.timeout",
      "55m",
      "-conformance-options-file",
      options,
    ];
    if (values.run !== undefined) args.push("-run-test", values.run);
    const env = { KUBECONFIG: place.kubeconfig };
    const { stdout, stderr } = await execute(programs.suite, args, { env, timeout: WHOLE });
    const results = resultsOf(stdout + stderr);
    for (const { id, status, reason } of results) console.log(`${status} ${id}${reason === "" ? "" : `: ${reason}`}`);
    if (results.length === 0) console.log(stdout.slice(-4_000), stderr.slice(-2_000));
    if (values.run === undefined && results.length > 0) keep(recordOf(results, programs.version));
    console.log(closingLine(results));
    return results.length === 0 ? 1 : 0;
  } finally {
    await place.close();
  }
}

process.exitCode = await main();
