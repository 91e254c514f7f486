import { createCloudControllerManager, rarelyWatched, type ControllerName } from "@causeway/cloud-controller-manager";
import type { Clock, Log, Metrics } from "@causeway/foundation";
import { createEventRecorder, createInformers, type KubernetesClient } from "@causeway/kubernetes";
import { connectCloud, watchCloud } from "@causeway/openstack";
import { nextConfiguration, readConfiguration, type Configuration } from "./configuration.ts";
import type { Flags } from "./flags.ts";

/** What a run of the manager keeps when its configuration changes. */
export interface Run {
  readonly client: KubernetesClient;
  readonly clusterName: string;
  readonly flags: Flags;
  /** Those of the flags that are led together. */
  readonly controllers: ReadonlySet<ControllerName>;
  /** Path of the cloud.conf. */
  readonly path: string;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Runs the controllers until the signal aborts. When cloud.conf, or a file that it refers to, changes, they continue
 * with new clients; what they had under way is ended as by a restart.
 */
export async function runManager(run: Run, first: Configuration, signal: AbortSignal): Promise<void> {
  let configuration = first;
  while (!signal.aborted) {
    const generation = new AbortController();
    const life = AbortSignal.any([signal, generation.signal]);
    const working = work(run, configuration, life);
    const ended = working.then(() => generation.abort());
    const next = await nextConfiguration(configuration, run, life).catch(() => undefined);
    generation.abort();
    await ended;
    if (next === undefined) return;
    run.log.info("cloud.conf, or a file it refers to, has changed: continuing with it");
    configuration = next;
  }
}

async function work(run: Run, configuration: Configuration, signal: AbortSignal): Promise<void> {
  const { client, clusterName, flags, metrics, clock, log } = run;
  for (const warning of configuration.warnings) log.warn("cloud.conf", { warning });
  const informers = createInformers(client, { clock, log });
  // A token may be refused before the next check of the files: the new password is used at once.
  const reload = () => readConfiguration(run.path).cloud;
  const cloud = connectCloud(configuration.cloud, { clock, log, metrics, reload, userAgent: flags.userAgent });
  const watch = watchCloud(cloud, { clock, log, rarely: rarelyWatched(configuration.config) });
  const manager = createCloudControllerManager({
    informers,
    cloud,
    watch,
    config: configuration.config,
    clusterName,
    controllers: run.controllers,
    metrics,
    clusterCidrs: flags.clusterCidrs,
    serviceSyncs: flags.serviceSyncs,
    events: createEventRecorder(client, {
      component: "cloud-controller-manager",
      clock,
      log,
      warnings: "warn",
      signal,
    }),
    clock,
    log,
  });
  try {
    await Promise.all([informers.run(signal), manager.run(signal)]);
  } finally {
    await watch.close();
    await cloud.close();
  }
}
