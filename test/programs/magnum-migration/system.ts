/** What `causeway up --runtime process` runs, but for the fleet and add-ons, on a cloud of the test's. */
import { join } from "node:path";
import { allKinds, magnumKinds, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { createClusterApi } from "@causeway/cluster-api";
import { createOpenStackInfrastructure } from "@causeway/cluster-api-openstack";
import { createMetrics, silentLog, systemClock } from "@causeway/foundation";
import { createHostedControlPlane, createProcessRuntime, createRuntimes } from "@causeway/hosted-control-plane";
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

export interface System {
  readonly client: KubernetesClient;
  stop(): Promise<void>;
}

export async function startSystem(dir: string, programs: string, simulator: Simulator): Promise<System> {
  const tools = { clock: systemClock, log: silentLog };
  const server = await startApiServer({
    dir: join(dir, "apiserver"),
    crds: [...allKinds, ...magnumKinds].map(toCustomResourceDefinition),
  });
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  const processes = createProcessRuntime({ dir: join(dir, "control-planes"), programs, ...tools });
  const informers = createInformers(client, tools);
  const remoteClusters = createRemoteClusters({ informers, ...tools });
  const clouds = createCloudPool(tools);
  const events = createEventRecorder(client, { component: "test", clock: systemClock });
  const metrics = createMetrics();
  const common = { informers, events, metrics, ...tools };
  const runtime = createRuntimes({ runtimes: { Process: processes }, default: "Process" });
  const magnum = await startMagnum({
    informers,
    keystone: { name: "simulator", authUrl: simulator.authUrl },
    host: "127.0.0.1",
    port: 0,
    ...tools,
  });
  const components = [
    createClusterApi({ ...common, remoteClusters, kinds: allKinds }),
    createOpenStackInfrastructure({ ...common, clouds }),
    createHostedControlPlane({ ...common, runtime, advertise: async () => "127.0.0.1" }),
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
    async stop() {
      stopping.abort();
      await Promise.allSettled(running);
      await processes.stop();
      await Promise.allSettled([client.close(), clouds.close()]);
      await server.close();
    },
  };
}
