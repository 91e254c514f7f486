import { createMetrics, systemClock, type Log } from "@causeway/foundation";
import { createClient, inClusterConfig, loadKubeconfig, type ClusterConfig } from "@causeway/kubernetes";
import { ownCommit, ownVersion } from "../../../release.ts";
import { servingCertificate } from "../serving/certificate.ts";
import { runManager, type Run } from "./manager.ts";
import { readConfiguration } from "./configuration.ts";
import { serveEndpoint } from "../serving/endpoint.ts";
import type { RawFlags } from "./options.ts";
import { readFlags } from "./flags.ts";
import { clusterGuard } from "../serving/guard.ts";
import { lead } from "./lead.ts";
import { Credentials } from "./credentials.ts";
import { levelOf } from "../../../options/logging.ts";
import { commandLog } from "../../../terminal/text-log.ts";

/**
 * Runs the cloud controller manager of one cluster until the signal aborts; elected, where it is to be. Wrong input
 * ends it before anything is started.
 * @throws FLAG_INVALID, CLOUD_CONF_UNREADABLE, CLOUD_CONF_INVALID, KUBECONFIG_…, ENDPOINT_PORT_TAKEN
 */
export async function runCloudController(raw: RawFlags, signal: AbortSignal): Promise<void> {
  const flags = readFlags(raw);
  const configuration = readConfiguration(raw.cloudConfig);
  const log = logOf(raw);
  const metrics = createMetrics();
  const client = createClient(clusterOf(raw), { userAgent: flags.userAgent, clock: systemClock, metrics });
  const run: Run = {
    client,
    clusterName: raw.clusterName,
    flags,
    controllers: flags.controllers,
    path: raw.cloudConfig,
    metrics,
    clock: systemClock,
    log,
  };
  log.info("starting the cloud controller manager", {
    version: ownVersion(),
    commit: ownCommit(),
    cluster: raw.clusterName,
    cloud: configuration.cloud.authUrl,
    controllers: [...flags.controllers].join(","),
  });
  const credentials = new Credentials(run);
  const endpoint =
    flags.port === 0
      ? undefined
      : await serveEndpoint({
          address: raw.bindAddress,
          port: flags.port,
          certificate: await servingCertificate(raw),
          minVersion: raw.tlsMinVersion === "VersionTLS13" ? "TLSv1.3" : "TLSv1.2",
          metrics,
          open: raw.authorizationAlwaysAllowPaths,
          guard: clusterGuard(client, systemClock),
          unready: () => credentials.refusal,
          log,
        });
  try {
    // A candidate that the cloud refuses does not lead: another may have credentials that work.
    const accepted = await credentials.whenAccepted(configuration, signal);
    if (accepted) await lead(run, (controllers, term) => runManager({ ...run, controllers }, accepted, term), signal);
    log.info("stopped");
  } finally {
    await endpoint?.close();
    await client.close();
  }
}

function clusterOf({ kubeconfig, master }: RawFlags): ClusterConfig {
  const config =
    kubeconfig !== undefined
      ? loadKubeconfig({ path: kubeconfig })
      : master !== undefined
        ? { server: master }
        : inClusterConfig();
  return master === undefined ? config : { ...config, server: master };
}

const logOf = (flags: RawFlags): Log => commandLog(levelOf(flags));
