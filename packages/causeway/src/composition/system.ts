import type { Clock, Log } from "@causeway/foundation";
import {
  addonKinds,
  allKinds,
  conversionsOf,
  magnumKinds,
  operatorKinds,
  toCustomResourceDefinition,
} from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { clusterApiRules } from "@causeway/cluster-api";
import { identityUsersOf, openStackRules } from "@causeway/cluster-api-openstack";
import type { Backups } from "@causeway/hosted-control-plane";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { folderDisks, runMachineAgent } from "@causeway/machine-agent";
import { createCloudPool, type CloudPool } from "@causeway/openstack";
import { openedClient, relatedBy } from "./related.ts";
import { openRuntime, type RuntimeChoice } from "./runtime.ts";
import { serveAdmin } from "./admin-socket.ts";
import type { ChosenCloud } from "./cloud.ts";
import { dialThrough } from "./dial.ts";
import { createControllers, type Controllers } from "./controllers.ts";
import { deploymentRules } from "./deployment-rules.ts";
import { authenticators } from "../workloads/authenticators.ts";
import { workerProgram } from "../workloads/program.ts";
import { managementClient } from "./management-client.ts";
import { magnumOfSystem } from "./magnum.ts";
import { launchHere, simulatedMachines } from "./machines.ts";
import { restoredHold } from "./restored.ts";
import type { State } from "./state.ts";

/** What the options of `causeway up` come to. */
export interface SystemOptions {
  readonly state: State;
  readonly cloud: ChosenCloud;
  /** Port of the management API; a free port by default. */
  readonly port?: number;
  /** Networks of nodes whose kubelets may be reached, and the folder of the tunnel's sockets that lead there. */
  readonly nodes?: { readonly networks: readonly string[]; readonly tunnels?: string };
  /** Networks of the OIDC issuers that control planes may name. Default: they may name none. */
  readonly issuerNetworks?: readonly string[];
  /** Networks of the sinks of audit events that control planes may name. Default: they may name none. */
  readonly auditNetworks?: readonly string[];
  /** What runs hosted control planes. Default: the embedded API server. */
  readonly runtime?: RuntimeChoice;
  /** Where control planes as processes are backed up and restored from. Default: none is. */
  readonly backups?: Backups;
  /** The image of the Cinder CSI node plugin of workload clusters; undefined: it is not installed. */
  readonly csiImage?: string | undefined;
  /** Whether the controllers of volumes of each cluster run here. Default true. */
  readonly withVolumes?: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Everything `causeway up` runs: all in this process, but for the API servers of workload clusters, which worker
 * processes serve.
 */
export interface System {
  readonly apiServer: ApiServer;
  readonly client: KubernetesClient;
  readonly clouds: CloudPool;
  readonly controllers: Controllers;
  /** Path of the management kubeconfig. */
  readonly kubeconfig: string;
  /** Ends everything in order: controllers, machines, clients, API server. The cloud is the caller's. */
  stop(): Promise<void>;
}

/** Milliseconds without progress after which the process is aborted, so that what supervises it starts it again. */
const ABORT_AFTER = 60_000;

/** Starts the embedded API server and every controller on it, and, in a simulated cloud, plays its machines. */
export async function startSystem(options: SystemOptions): Promise<System> {
  const { state, cloud, clock, log } = options;
  // The server listens before there is a client of it; the first write that is judged comes later.
  const own: { client?: KubernetesClient } = {};
  const apiServer = await startApiServer({
    dir: state.path("apiserver"),
    ...(options.port === undefined ? {} : { port: options.port }),
    crds: [...allKinds, ...addonKinds, ...magnumKinds, ...operatorKinds].map(toCustomResourceDefinition),
    conversions: conversionsOf(allKinds),
    rules: [
      clusterApiRules(relatedBy(() => own.client)),
      openStackRules(identityUsersOf(() => openedClient(own.client))),
      deploymentRules(),
    ],
    isolation: { abortAfter: ABORT_AFTER, program: workerProgram() },
    authenticators,
    clock,
    log: log.with({ component: "apiserver" }),
  });
  const text = await apiServer.management.kubeconfig();
  const kubeconfig = state.write("management.kubeconfig", text);
  const client = createClient(loadKubeconfig({ text }));
  const inProcess = managementClient(apiServer, client);
  own.client = inProcess;
  const clouds = createCloudPool({
    clock,
    log: log.with({ component: "openstack" }),
    holdDeletions: () => restoredHold(state.dir) !== undefined,
  });
  const runtime = options.runtime ?? { default: "Embedded", programs: undefined };
  const controlPlanes = openRuntime({
    choice: runtime,
    apiServer,
    dir: state.path("control-planes"),
    nodes: options.nodes,
    issuerNetworks: options.issuerNetworks ?? [],
    auditNetworks: options.auditNetworks ?? [],
    backups: options.backups,
    metrics: apiServer.metrics,
    clock,
    log: log.with({ component: "hosted-control-plane" }),
  });
  const controllers = createControllers({
    client: inProcess,
    clouds,
    runtime: controlPlanes.runtime,
    backups: options.backups,
    advertise: cloud.advertise,
    provider: cloud.provider,
    csiImage: options.csiImage,
    withVolumes: options.withVolumes ?? true,
    dial: options.nodes?.tunnels === undefined ? undefined : dialThrough(options.nodes.tunnels),
    metrics: apiServer.metrics,
    clock,
    log,
  });
  const backup = ({ file }: Readonly<Record<string, unknown>>) => apiServer.backup(String(file));
  const endAdmin = await serveAdmin(state.dir, { backup }, log);
  const stopping = new AbortController();
  const { informers } = controllers;
  const magnum = await magnumOfSystem(cloud, {
    state,
    informers,
    runtime,
    csiImage: options.csiImage,
    metrics: apiServer.metrics,
    clock,
    log,
  });
  const running = [
    controllers.run(stopping.signal),
    playMachines(options, stopping.signal),
    ...(magnum ? [magnum.run(stopping.signal)] : []),
  ];
  return {
    apiServer,
    client,
    clouds,
    controllers,
    kubeconfig,
    async stop() {
      await endAdmin();
      stopping.abort();
      await Promise.allSettled(running);
      await controlPlanes.stop();
      await Promise.allSettled([client.close(), clouds.close()]);
      await apiServer.close();
    },
  };
}

async function playMachines({ state, cloud, clock, log }: SystemOptions, signal: AbortSignal): Promise<void> {
  if (!cloud.simulator) return;
  const disks = folderDisks(state.path("machines"));
  const launch = launchHere({ disks, clock, log: log.with({ component: "machine-agent" }) });
  const source = simulatedMachines(cloud.simulator);
  await runMachineAgent({ source, launch, disks, interval: 100, clock, log }, signal);
}
