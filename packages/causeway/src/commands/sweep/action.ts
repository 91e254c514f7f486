import { createLog, silentLog, systemClock } from "@causeway/foundation";
import { sweepOrphans, type Swept } from "@causeway/cloud-controller-manager";
import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { stringify } from "yaml";
import type { OutputFormat } from "../../options/output.ts";
import { exitStatus } from "../../terminal/report-error.ts";
import type { SweepOptions } from "./command.ts";

/** Removes what Services that are no more left in the cloud; exit status 1 when some of it would not go. */
export async function sweep(options: SweepOptions, signal: AbortSignal): Promise<void> {
  const log = options.logLevel === "silent" ? silentLog : createLog({ level: options.logLevel });
  const { kubeconfig, output, ...request } = options;
  const client = createClient(loadKubeconfig(kubeconfig === undefined ? {} : { path: kubeconfig }));
  const cloud = connectCloud(loadCloudsYaml({ cloud: options.cloud }), { clock: systemClock, log });
  try {
    const swept = await sweepOrphans({ ...request, client, cloud, clock: systemClock }, signal);
    process.stdout.write(render(swept, output));
    if (swept.some((one) => one.outcome === "failed")) process.exitCode = exitStatus.failed;
  } finally {
    await Promise.all([cloud.close(), client.close()]);
  }
}

function render(swept: readonly Swept[], output: OutputFormat): string {
  if (output === "json") return `${JSON.stringify(swept)}\n`;
  if (output === "yaml") return stringify(swept);
  if (swept.length === 0) return "nothing is left of Services that are no more\n";
  const lines = swept.map(({ outcome, kind, name, service, kept, error }) => {
    const why = kept ?? error;
    return `${outcome.padEnd(7)}  ${kind} ${name} of Service ${service}${why === undefined ? "" : `: ${why}`}`;
  });
  return `${lines.join("\n")}\n`;
}
