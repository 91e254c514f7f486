import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { createMetrics, systemClock, whenAborted } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  electLeader,
  inClusterConfig,
  loadKubeconfig,
  type ClusterConfig,
} from "@causeway/kubernetes";
import { createOctaviaIngress, readConfig, watched, type ConfigFile } from "@causeway/octavia-ingress";
import { connectCloud, parseCloudConf, watchCloud } from "@causeway/openstack";
import { readIngressConfig } from "../../../composition/config-files.ts";
import { commandLog } from "../../../terminal/text-log.ts";
import type { OctaviaIngressFlags } from "./command.ts";
import { serveMetrics } from "../serving/plain-metrics.ts";

/**
 * Runs the controllers of one cluster until the signal aborts; elected, where they are to be. Wrong input ends it
 * before anything is started.
 * @throws INGRESS_CONFIG_INVALID, INGRESS_CONFIG_UNREADABLE, CLOUD_CONF_INVALID, KUBECONFIG_…, METRICS_ADDRESS_INVALID
 */
export async function octaviaIngress(flags: OctaviaIngressFlags, signal: AbortSignal): Promise<void> {
  const file = readConfig(readIngressConfig(flags.config));
  const cloudConfig = parseCloudConf(file.cloudConf);
  const log = commandLog(flags.logLevel ?? (flags.debug === true ? "debug" : "info"));
  const [metrics, clock] = [createMetrics(), systemClock];
  const userAgent = "causeway-octavia-ingress";
  for (const warning of file.warnings) log.warn("configuration file", { warning });
  const client = createClient(clusterOf(flags, file), { userAgent, clock, metrics });
  const served = await serveMetrics(flags.metricsAddress, { metrics, log });
  const work = async (term: AbortSignal): Promise<void> => {
    const informers = createInformers(client, { clock, log });
    const cloud = connectCloud(cloudConfig, { clock, log, metrics, userAgent });
    const watch = watchCloud(cloud, { clock, log, ...watched });
    const events = createEventRecorder(client, {
      component: "openstack-ingress-controller",
      clock,
      log,
      warnings: "warn",
      signal: term,
    });
    const { config } = file;
    const poolRecord = {
      namespace: flags.leaderElectResourceNamespace,
      name: `${flags.leaderElectResourceName}-pools`,
    };
    const using = { config, informers, cloud, watch, events, metrics, poolRecord, clock, log };
    const ingress = createOctaviaIngress(using);
    try {
      await Promise.all([informers.run(term), ingress.run(term)]);
    } finally {
      await watch.close();
      await cloud.close();
    }
  };
  log.info("starting the ingress controller", { cluster: file.config.clusterName, cloud: cloudConfig.authUrl });
  try {
    if (flags.leaderElect === "false") await work(signal);
    else
      await electLeader(
        {
          client,
          namespace: flags.leaderElectResourceNamespace,
          name: flags.leaderElectResourceName,
          identity: `${hostname()}_${randomUUID()}`,
          onLeading: work,
          clock,
          log,
        },
        signal,
      );
    if (!signal.aborted) await whenAborted(signal);
  } finally {
    await served?.close();
    await client.close();
  }
}

function clusterOf({ kubeconfig }: OctaviaIngressFlags, { kubernetes }: ConfigFile): ClusterConfig {
  const path = kubeconfig ?? kubernetes.kubeconfig;
  const { host } = kubernetes;
  const config =
    path !== undefined ? loadKubeconfig({ path }) : host !== undefined ? { server: host } : inClusterConfig();
  return host === undefined ? config : { ...config, server: host };
}
