import { allKinds, annotations, Cluster, OpenStackCluster, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { createMetrics, silentLog, systemClock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  loadKubeconfig,
  Secret,
  type Informers,
  type KubernetesClient,
  type RemoteCluster,
} from "@causeway/kubernetes";
import { createCloudPool, type CloudPool } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createFleet } from "./controller.ts";

// It runs servers.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const key = { namespace: "default", name: "web" };
const tools = { clock: systemClock, log: silentLog };
const stopping = new AbortController();
let server: ApiServer;
let simulator: Simulator;
let client: KubernetesClient;
let informers: Informers;
let fleet: Promise<void>;
/** Members that were started: each reads its cloud once. */
let started = 0;

/** The workload cluster is the management cluster itself, whose nodes and Services a member reads. */
beforeAll(async () => {
  simulator = await startSimulator();
  server = await startApiServer({ crds: allKinds.map(toCustomResourceDefinition) });
  client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  informers = createInformers(client, tools);
  const pool = createCloudPool(tools);
  const clouds: CloudPool = {
    ...pool,
    get(config) {
      started += 1;
      return pool.get(config);
    },
  };
  const remote: RemoteCluster = { key, client, informers, signal: stopping.signal };
  const remoteClusters = {
    get: ({ name }: { readonly name: string }) => (name === key.name ? remote : undefined),
    onConnect: () => () => {},
    run: async () => {},
  };
  const events = createEventRecorder(client, { component: "test", clock: systemClock });
  const common = { informers, remoteClusters, clouds, events, metrics: createMetrics(), ...tools };
  fleet = createFleet({ ...common, provider: undefined, withVolumes: false }).run(stopping.signal);
  void informers.run(stopping.signal);
  await makeCluster();
});

afterAll(async () => {
  stopping.abort();
  await fleet;
  await client.close();
  await server.close();
  await simulator.close();
});

async function makeCluster(): Promise<void> {
  const { namespace, name } = key;
  const data = { "clouds.yaml": Buffer.from(simulator.cloudsYaml).toString("base64") };
  await client.create(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name: "credentials" },
    data,
  } as Secret);
  const identityRef = { type: "Secret", name: "credentials", cloudName: "simulator" };
  await client.create(OpenStackCluster, {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "OpenStackCluster",
    metadata: { namespace, name },
    spec: { identityRef },
  } as OpenStackCluster);
  const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackCluster", name };
  await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { namespace, name },
    spec: { infrastructureRef },
  } as Cluster);
}

const annotate = (given: Readonly<Record<string, string>>) =>
  client.patch(Cluster, key, { type: "merge", body: { metadata: { annotations: given } } });

test("a member is replaced when a setting of load balancers is changed on its Cluster, and for no other annotation", async () => {
  await expect.poll(() => started, { timeout: 20_000 }).toBe(1);
  await annotate({ [annotations.loadBalancerMonitor]: "true" });
  await expect.poll(() => started, { timeout: 20_000 }).toBe(2);
  await annotate({ "example.com/note": "1" });
  await annotate({ [annotations.loadBalancerMethod]: "RANDOM" });
  await annotate({ [annotations.loadBalancerMethod]: "SOURCE_IP" });
  await expect.poll(() => started, { timeout: 20_000 }).toBe(3);
  await annotate({ [annotations.loadBalancerProvider]: "ovn" });
  await expect.poll(() => started, { timeout: 20_000 }).toBe(4);
  stopping.abort();
  await fleet;
  expect(started).toBe(4);
});
