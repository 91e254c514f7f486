import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { createMetrics, systemClock, type Log, type Metrics } from "@causeway/foundation";
import {
  createHostedControlPlane,
  createPodsRuntime,
  createRuntimes,
  type Backups,
  type PodsSettings,
} from "@causeway/hosted-control-plane";
import {
  createClient,
  createEventRecorder,
  createInformers,
  electLeader,
  inClusterConfig,
  loadKubeconfig,
  Namespace,
  Secret,
  type KubernetesClient,
  type Shards,
} from "@causeway/kubernetes";
import { stringify } from "yaml";
import { openBackups } from "../../../backups/store.ts";
import { commandLog } from "../../../terminal/text-log.ts";
import { serveMetrics } from "../serving/plain-metrics.ts";
import { readShards, shareWork } from "../serving/shared-work.ts";
import type { HostedControlPlaneFlags } from "./options.ts";
import { followServiceCluster } from "./service-cluster.ts";
import { settingsOf } from "./settings.ts";

const clock = systemClock;

/**
 * Runs the controller of HostedControlPlane objects with runtime Pods until the signal aborts; elected, unless it is to
 * work without.
 * @throws FLAG_INVALID, CERTIFICATE_UNREADABLE, KUBECONFIG_…, METRICS_ADDRESS_INVALID, SERVICE_CLUSTER_UNKNOWN
 */
export async function hostedControlPlane(flags: HostedControlPlaneFlags, signal: AbortSignal): Promise<void> {
  if (flags.printCrds) {
    process.stdout.write(`---\n${stringify(toCustomResourceDefinition(HostedControlPlane))}`);
    return;
  }
  // Wrong flags end it before anything is connected to.
  settingsOf(flags, "");
  const shards = readShards(flags.shards);
  const [log, metrics] = [commandLog(flags.logLevel), createMetrics()];
  const config = flags.kubeconfig === undefined ? inClusterConfig() : loadKubeconfig({ path: flags.kubeconfig });
  const client = createClient(config, { userAgent: "causeway-hosted-control-plane", clock, metrics });
  const served = await serveMetrics(flags.metricsAddress, { metrics, log });
  const opened = await openBackups(flags, { client, clock, log, metrics }, signal);
  const backups = opened === undefined ? {} : { backups: opened.backups };
  const tools = { client, metrics, log, ...backups };
  const work = (term: AbortSignal) => run(flags, tools, term);
  const lease = { namespace: flags.leaderElectNamespace, name: "causeway-hosted-control-plane" };
  try {
    if (shards !== undefined) {
      const sharing = { client, metrics, log, namespace: lease.namespace, lease: lease.name };
      return await shareWork(shards, sharing, (owned, term) => run(flags, { ...tools, shards: owned }, term), signal);
    }
    if (flags.leaderElect === "false") return await work(signal);
    const identity = `${hostname()}_${randomUUID()}`;
    await electLeader({ client, ...lease, identity, onLeading: work, clock, log }, signal);
  } finally {
    await served?.close();
    await opened?.close();
    await client.close();
  }
}

interface Tools {
  readonly client: KubernetesClient;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly backups?: Backups;
  readonly shards?: Shards;
}

async function run(flags: HostedControlPlaneFlags, using: Tools, signal: AbortSignal): Promise<void> {
  const { client, metrics, log } = using;
  const management = await managementOf(client, signal);
  const settings: PodsSettings = { ...settingsOf(flags, flags.owner ?? management), management };
  const where = flags.serviceKubeconfig;
  if (where === undefined) return control(settings, client, using, signal);
  await followServiceCluster(where, { client, clock, log }, signal, async (text, term) => {
    log.info("control planes run in another cluster", { secret: where });
    const options = { userAgent: "causeway-hosted-control-plane", clock, metrics };
    const service = createClient(loadKubeconfig({ text }), options);
    try {
      await control(settings, service, using, term);
    } finally {
      await service.close();
    }
  });
}

/** Runs the controller and the runtime with one client of the service cluster. */
async function control(
  settings: PodsSettings,
  service: KubernetesClient,
  { client, metrics, log, backups: given, shards }: Tools,
  signal: AbortSignal,
): Promise<void> {
  const backups = given === undefined ? {} : { backups: given };
  const tools = { clock, log, metrics };
  const informers = createInformers(client, { clock, log });
  const serviceInformers = service === client ? informers : createInformers(service, { clock, log });
  const readSecret = (namespace: string, name: string, stop: AbortSignal) =>
    client.find(Secret, { namespace, name }, { signal: stop });
  const shared = shards === undefined ? undefined : { shards, controlPlanes: informers.for(HostedControlPlane) };
  const pods = createPodsRuntime({ informers: serviceInformers, settings, readSecret, shared, ...backups, ...tools });
  const runtime = createRuntimes({ runtimes: { Pods: pods }, default: "Pods" });
  const events = createEventRecorder(client, {
    component: "hosted-control-plane",
    clock,
    log,
    warnings: "warn",
    signal,
  });
  const advertise = async () => undefined;
  const controller = createHostedControlPlane({ informers, runtime, advertise, events, shards, ...backups, ...tools });
  log.info("starting control planes as pods", { owner: settings.owner, serviceCluster: service.server });
  // Whole lists, since a cache that lags would repeat what the process before did.
  const stop = shards?.beforeWork(async (life) => {
    const both = AbortSignal.any([signal, life]);
    await Promise.all([...new Set([informers, serviceInformers])].map((each) => each.relist(both)));
  });
  await Promise.all([
    informers.run(signal),
    ...(serviceInformers === informers ? [] : [serviceInformers.run(signal)]),
    pods.run(signal),
    controller.run(signal),
  ]).finally(stop);
}

/** The management cluster: its namespace kube-system is never deleted. */
async function managementOf(client: KubernetesClient, signal: AbortSignal): Promise<string> {
  const { metadata } = await client.get(Namespace, { namespace: "", name: "kube-system" }, { signal });
  return metadata.uid ?? "";
}
