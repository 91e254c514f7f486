import { exitStatus } from "../../terminal/report-error.ts";
import { systemClock } from "@causeway/foundation";
import { createClient } from "@causeway/kubernetes";
import { connectCloud } from "@causeway/openstack";
import { chosenCloud, chosenCluster } from "../../composition/chosen.ts";
import { asked, clusterFacts, cloudFacts } from "./facts.ts";
import { volumeFacts } from "./volume-facts.ts";
import { findingsOf } from "./findings.ts";
import { renderReport } from "./render.ts";
import type { DoctorOptions } from "./command.ts";
import { commandLog } from "../../terminal/text-log.ts";

/**
 * Reads a cloud, and a cluster where one is chosen, and reports what will work. Exit status 3 when something is broken.
 */
export async function doctor(options: DoctorOptions, signal: AbortSignal): Promise<void> {
  const log = commandLog(options.logLevel);
  const config = chosenCloud(options);
  const reads = options.kubeconfig !== undefined || options.context !== undefined;
  const client = reads ? createClient(chosenCluster(options)) : undefined;
  const cloud = connectCloud(config, { clock: systemClock, log });
  try {
    const facts = {
      cloud: await cloudFacts(cloud, signal),
      cluster: client && (await clusterFacts(client, cloud, signal)),
      volumes: client && (await asked(() => volumeFacts(client, cloud, { signal, now: systemClock.now() }), signal)),
    };
    const findings = findingsOf(facts);
    const { isTTY, columns } = process.stdout;
    const style = { quiet: options.quiet, width: isTTY && columns > 0 ? columns : undefined, stream: process.stdout };
    const report = { cloud: cloud.name, region: facts.cloud.region, findings };
    process.stdout.write(renderReport(report, options.output, style));
    if (findings.some((finding) => finding.state === "broken")) process.exitCode = exitStatus.findings;
  } finally {
    await Promise.all([cloud.close(), client?.close()]);
  }
}
