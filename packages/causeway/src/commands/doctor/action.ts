import { exitStatus } from "../../terminal/report-error.ts";
import { createLog, silentLog, systemClock } from "@causeway/foundation";
import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { clusterFacts, cloudFacts } from "./facts.ts";
import { findingsOf } from "./findings.ts";
import { renderReport } from "./render.ts";
import type { DoctorOptions } from "./command.ts";

/** Reads a cloud, and a cluster where one is named, and says what will work. Exit status 3 when something is broken. */
export async function doctor(options: DoctorOptions, signal: AbortSignal): Promise<void> {
  const log = options.logLevel === "silent" ? silentLog : createLog({ level: options.logLevel });
  const config = loadCloudsYaml({ cloud: options.cloud });
  const client =
    options.kubeconfig === undefined ? undefined : createClient(loadKubeconfig({ path: options.kubeconfig }));
  const cloud = connectCloud(config, { clock: systemClock, log });
  try {
    const facts = {
      cloud: await cloudFacts(cloud, signal),
      cluster: client && (await clusterFacts(client, cloud, signal)),
    };
    const findings = findingsOf(facts);
    process.stdout.write(renderReport({ cloud: cloud.name, region: facts.cloud.region, findings }, options.output));
    if (findings.some((finding) => finding.state === "broken")) process.exitCode = exitStatus.findings;
  } finally {
    await Promise.all([cloud.close(), client?.close()]);
  }
}
