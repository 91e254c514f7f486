/** What `causeway up` runs on a cloud of the test's. */
import { join } from "node:path";
import { createAddons } from "@causeway/addons";
import { addonKinds, allKinds, magnumKinds, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ExternalAuthenticators, type StartClusterControllers } from "@causeway/apiserver";
import { createClusterApi } from "@causeway/cluster-api";
import { createOpenStackInfrastructure } from "@causeway/cluster-api-openstack";
import { createMetrics, silentLog, systemClock } from "@causeway/foundation";
import {
  createEmbeddedRuntime,
  createHostedControlPlane,
  createProcessRuntime,
  createRuntimes,
  type ControlPlaneRuntime,
} from "@causeway/hosted-control-plane";
import {
  createClient,
  createEventRecorder,
  createInformers,
  createRemoteClusters,
  loadKubeconfig,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { folderDisks, fileIdentity, runMachine, runMachineAgent } from "@causeway/machine-agent";
import { startMagnum } from "@causeway/magnum-api";
import { createCloudPool } from "@causeway/openstack";
import type { Simulator } from "@causeway/simulator";

const FLEET = new URL("../../../packages/causeway/src/fleet/controller.ts", import.meta.url).href;
const WORKLOADS = new URL("../../../packages/causeway/src/workloads/start.ts", import.meta.url).href;
const AUTHENTICATORS = new URL("../../../packages/causeway/src/workloads/authenticators.ts", import.meta.url).href;

interface FleetModule {
  readonly createFleet: (options: object) => { run(signal: AbortSignal): Promise<void> };
}

export interface System {
  readonly client: KubernetesClient;
  /** Of an administrator of the management cluster. */
  readonly kubeconfig: string;
  /** Of its Magnum API, without a version. */
  readonly magnumUrl: string;
  stop(): Promise<void>;
}

export interface SystemOptions {
  /** A folder of Kubernetes' programs; without them hosted control planes are embedded. */
  readonly programs?: string;
  /** Whether clusters' volumes are served. Default: no. */
  readonly withVolumes?: boolean;
}

export async function startSystem(
  dir: string,
  simulator: Simulator,
  { programs, withVolumes = false }: SystemOptions = {},
): Promise<System> {
  const tools = { clock: systemClock, log: silentLog };
  const { startWorkloads } = (await import(WORKLOADS)) as { startWorkloads: StartClusterControllers };
  // Clusters that are migrated accept Keystone's tokens, as the driver had it.
  const { authenticators } = (await import(AUTHENTICATORS)) as { authenticators: ExternalAuthenticators };
  const server = await startApiServer({
    authenticators,
    // Of embedded control planes: those of programs have Kubernetes' own.
    controllers: startWorkloads,
    dir: join(dir, "apiserver"),
    crds: [...allKinds, ...addonKinds, ...magnumKinds].map(toCustomResourceDefinition),
  });
  const kubeconfig = await server.management.kubeconfig();
  const client = createClient(loadKubeconfig({ text: kubeconfig }));
  const processes =
    programs === undefined
      ? undefined
      : createProcessRuntime({ dir: join(dir, "control-planes"), programs, authenticators, ...tools });
  const informers = createInformers(client, tools);
  const remoteClusters = createRemoteClusters({ informers, ...tools });
  const clouds = createCloudPool(tools);
  const events = createEventRecorder(client, { component: "test", clock: systemClock });
  const metrics = createMetrics();
  const common = { informers, events, metrics, ...tools };
  const runtime: ControlPlaneRuntime =
    processes === undefined
      ? createRuntimes({ runtimes: { Embedded: createEmbeddedRuntime({ apiServer: server }) }, default: "Embedded" })
      : createRuntimes({ runtimes: { Process: processes }, default: "Process" });
  const magnum = await startMagnum({
    informers,
    keystone: { name: "simulator", authUrl: simulator.authUrl },
    host: "127.0.0.1",
    port: 0,
    ...tools,
  });
  const { createFleet } = (await import(FLEET)) as FleetModule;
  const components = [
    createClusterApi({ ...common, remoteClusters, kinds: allKinds }),
    createOpenStackInfrastructure({ ...common, clouds }),
    createAddons({ ...common, remoteClusters }),
    createHostedControlPlane({ ...common, runtime, advertise: async () => "127.0.0.1" }),
    // Without a cloud controller no new Node would get its providerID, and none would be found to be a Machine's.
    createFleet({ ...common, remoteClusters, clouds, provider: undefined, withVolumes }),
    magnum,
    remoteClusters,
    informers,
  ];
  const disks = folderDisks(join(dir, "machines"));
  const launch: Parameters<typeof runMachineAgent>[0]["launch"] = (machine, signal) =>
    runMachine(machine, { identity: fileIdentity(disks.path(machine.id)), ...tools }, signal);
  const machines = { source: { machines: async () => simulator.machines() }, launch, disks, interval: 100, ...tools };
  const stopping = new AbortController();
  const running = [...components.map((one) => one.run(stopping.signal)), runMachineAgent(machines, stopping.signal)];
  return {
    client,
    kubeconfig,
    magnumUrl: `http://127.0.0.1:${magnum.port}`,
    async stop() {
      stopping.abort();
      await Promise.allSettled(running);
      await processes?.stop();
      await Promise.allSettled([client.close(), clouds.close()]);
      await server.close();
    },
  };
}
