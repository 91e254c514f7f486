import { rmSync } from "node:fs";
import { systemClock, whenAborted } from "@causeway/foundation";
import { Cluster } from "@causeway/api";
import { isUnreachable, Secret, secretText } from "@causeway/kubernetes";
import { backupKeyOf, openBackups } from "../../backups/store.ts";
import { openCloud, type ChosenCloud } from "../../composition/cloud.ts";
import { confirmRestored, HELD, restoredHold } from "../../composition/restored.ts";
import { openState, type State } from "../../composition/state.ts";
import { chosenRuntime, newestVersion } from "../../composition/runtime.ts";
import { startSystem, type System } from "../../composition/system.ts";
import { applyDemo, applyDemoService } from "./demo/apply.ts";
import { followProblems } from "./demo/problems.ts";
import { followDemo, type DemoFollower } from "./demo/follow.ts";
import { demo } from "./demo/manifests.ts";
import { checkDemoInput } from "./demo/preflight.ts";
import { showChanges, showProgress } from "./demo/progress.ts";
import { farewell, renderResult } from "./demo/words.ts";
import type { UpOptions } from "./command.ts";
import { commandLog } from "../../terminal/text-log.ts";

/** Runs the whole system in this process until the signal aborts, or until the demo is ready when requested. */
export async function up(options: UpOptions, signal: AbortSignal): Promise<void> {
  const started = performance.now();
  backupKeyOf(options);
  const state = openState(options.state);
  const held = restoredHold(state.dir);
  if (held !== undefined && !options.confirmRestore) process.stderr.write(`Deletions are held (${HELD}): ${held}.\n`);
  const log = commandLog(options.logLevel);
  const runtime = chosenRuntime(options);
  const cloud = await openCloud(options, { state, clock: systemClock, log, signal });
  let closeBackups = async (): Promise<void> => {};
  try {
    const clouds = { [cloud.config.name]: cloud.config };
    const holdDeletions = () => restoredHold(state.dir) !== undefined;
    const opened = await openBackups(options, { clouds, holdDeletions, clock: systemClock, log }, signal);
    if (opened !== undefined) closeBackups = () => opened.close();
    const system = await startSystem({
      ...(opened === undefined ? {} : { backups: opened.backups }),
      state,
      cloud,
      clock: systemClock,
      log,
      runtime,
      csiImage: options.csiImage,
      withVolumes: options.volumes,
      ...(options.port ? { port: options.port } : {}),
      ...(options.oidcNetworks ? { issuerNetworks: options.oidcNetworks } : {}),
      ...(options.auditNetworks ? { auditNetworks: options.auditNetworks } : {}),
      nodes: {
        networks: options.nodeNetworks ?? [],
        ...(options.tunnelSockets === undefined ? {} : { tunnels: options.tunnelSockets }),
      },
    });
    try {
      // Not before: a start that fails leaves the hold to the next one.
      if (options.confirmRestore) confirmRestored(state.dir);
      if (options.demo)
        await withProblems(options, system, signal, (stop) =>
          bringUpDemo({ options, state, cloud, system, started }, stop),
        );
      else
        process.stdout.write(
          `management API ${system.apiServer.management.url}\n  export KUBECONFIG=${system.kubeconfig}\n`,
        );
      if (!options.exitWhenReady) await whenAborted(signal);
    } finally {
      await system.stop();
    }
  } finally {
    await closeBackups();
    await cloud.close();
  }
}

/** Does `work` until it is done, or until the API server reports what keeps the demo from becoming ready. */
async function withProblems(
  options: UpOptions,
  { apiServer }: System,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const done = new AbortController();
  const failing = new AbortController();
  const stream = options.output === "table" ? process.stdout : process.stderr;
  const watching = followProblems(
    {
      problems: () => apiServer.problems,
      clock: systemClock,
      show: (line) => stream.write(`${line}\n`),
      ...(options.exitWhenReady ? { timeout: options.timeout * 1000 } : {}),
    },
    AbortSignal.any([signal, done.signal]),
  ).catch((error: unknown) => {
    failing.abort(error);
    throw error;
  });
  try {
    await Promise.race([work(AbortSignal.any([signal, failing.signal])), watching]);
  } finally {
    done.abort();
    await watching.catch(() => {});
  }
}

interface Demo {
  readonly options: UpOptions;
  readonly state: State;
  readonly cloud: ChosenCloud;
  readonly system: System;
  readonly started: number;
}

async function bringUpDemo(running: Demo, signal: AbortSignal): Promise<void> {
  const { options, cloud, state, system, started } = running;
  const { informers, remoteClusters } = system.controllers;
  await informers.whenSynced(signal);
  const follower = followDemo({ informers, remoteClusters, clock: systemClock });
  const existed = (await system.client.find(Cluster, demo, { signal })) !== undefined;
  if (!existed) await checkDemoInput(system.clouds.get(cloud.config).watch, options, signal);
  await applyDemo(
    system.client,
    {
      cloudsYaml: cloud.cloudsYaml,
      cloudName: cloud.config.name,
      flavor: options.flavor,
      image: options.image,
      replicas: options.replicas ?? demo.replicas,
      ...(options.runtime === "process" ? { version: newestVersion(options.programs) } : {}),
    },
    signal,
  );
  // A result for programs has standard output to itself.
  const stream = options.output === "table" ? process.stdout : process.stderr;
  const failing = new AbortController();
  const service = makeService(system, follower, AbortSignal.any([signal, failing.signal]));
  try {
    await Promise.all([showProgress({ follower, signal, stream, unattended: options.exitWhenReady }), service]);
  } finally {
    failing.abort();
    await service.catch(() => {});
  }
  const cluster = system.apiServer.cluster(`${demo.namespace}.${demo.name}`);
  const secret = { namespace: demo.namespace, name: `${demo.name}-kubeconfig` };
  const text =
    cluster === undefined
      ? secretText(await system.client.find(Secret, secret, { signal }), "value")
      : await cluster.kubeconfig();
  const workload = text === undefined ? undefined : state.write(`${demo.name}.kubeconfig`, text);
  const { wanted } = follower.view;
  if (existed && options.replicas !== undefined && options.replicas !== wanted)
    process.stderr.write(
      `The cluster demo existed with ${wanted} workers; --replicas is for a new one. Scale it: ` +
        `kubectl scale machinedeployment ${demo.workers} --replicas=${options.replicas}\n`,
    );
  if (!options.exitWhenReady)
    stream.write(farewell(system.kubeconfig, workload, cloud.simulator && state.path("clouds.yaml")));
  const result = {
    ready: true,
    nodes: wanted,
    loadBalancer: follower.view.address ?? "",
    openstackCalls: system.clouds.stats().total,
    seconds: Math.round((performance.now() - started) / 100) / 10,
    kubeconfigs: { management: system.kubeconfig, ...(workload === undefined ? {} : { workload }) },
  };
  process.stdout.write(renderResult(result, options.output));
  if (options.exitWhenReady) return;
  await showChanges({ follower, signal, stream }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (signal.aborted) return;
  if (workload !== undefined) rmSync(workload, { force: true });
}

/**
 * The demo's Service is made as soon as its cluster answers; nodes may still be on their way. A workload API that does
 * not respond, as right after a start, is queried again.
 */
async function makeService(system: System, follower: DemoFollower, signal: AbortSignal): Promise<void> {
  await follower.until((view) => view.endpoint.done && view.machines.some((m) => m.done), signal);
  for (;;) {
    const remote = system.controllers.remoteClusters.get(demo);
    try {
      if (remote) return await applyDemoService(system.client, remote.client, signal);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
    }
    await systemClock.sleep(250, signal);
  }
}
