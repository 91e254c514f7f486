import {
  allKinds,
  annotations,
  Cluster,
  HostedControlPlane,
  OpenStackCluster,
  toCustomResourceDefinition,
} from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { createMetrics, silentLog, systemClock, type Clock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  Event,
  loadKubeconfig,
  Secret,
  type Informers,
  type KubernetesClient,
  type RemoteCluster,
} from "@causeway/kubernetes";
import { connectCloud, createCloudPool, loadCloudsYaml, type CloudPool } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createFleet } from "./controller.ts";
import { ABANDONED, fleetFinalizer } from "./plan.ts";

// It runs servers.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const key = { namespace: "default", name: "web" };
/** Milliseconds by which the fleet's clock is ahead of this machine's. */
let ahead = 0;
const clock: Clock = { now: () => systemClock.now() + ahead, sleep: (ms, signal) => systemClock.sleep(ms, signal) };
const tools = { clock, log: silentLog };
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

test("a deleted cluster whose API is gone loses its load balancers by name, and an event says which", async () => {
  const lost = { namespace: "default", name: "lost" };
  const config = loadCloudsYaml({ text: simulator.cloudsYaml, cloud: "simulator" });
  const cloud = connectCloud(config);
  const network = await cloud.network.networks.create({ name: "lost" });
  const { id: vip_subnet_id } = await cloud.network.subnets.create({
    name: "lost",
    network_id: network.id,
    cidr: "10.6.0.0/24",
    ip_version: 4,
  });
  const balancer = await cloud.loadBalancing.loadBalancers.create({
    name: "kube_service_default-lost_shop_web",
    description: "Kubernetes external service shop/web from cluster default-lost",
    vip_subnet_id,
  });
  const metadata = { ...lost, finalizers: ["example.org/machines"] };
  const infrastructure = await client.create(OpenStackCluster, {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "OpenStackCluster",
    metadata: lost,
    spec: {
      identityRef: { type: "Secret", name: "credentials", cloudName: "simulator" },
      managedSubnets: [{ cidr: "10.6.0.0/24" }],
    },
  } as OpenStackCluster);
  await client.patch(
    OpenStackCluster,
    lost,
    { type: "merge", body: { status: { network: { id: network.id, name: "lost" } } } },
    { subresource: "status" },
  );
  const controlPlane = await client.create(HostedControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata: { ...lost, finalizers: [fleetFinalizer, "example.org/control-plane"] },
    spec: { version: "v1.34.0" },
  } as HostedControlPlane);
  await client.patch(
    HostedControlPlane,
    lost,
    { type: "merge", body: { status: { initialization: { controlPlaneInitialized: true } } } },
    { subresource: "status" },
  );
  const reference = ({ kind, metadata: { name } }: { kind: string; metadata: { name: string } }, apiGroup: string) => ({
    apiGroup,
    kind,
    name,
  });
  await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata,
    spec: {
      infrastructureRef: reference(infrastructure, "infrastructure.cluster.x-k8s.io"),
      controlPlaneRef: reference(controlPlane, "controlplane.cluster.x-k8s.io"),
    },
  } as Cluster);
  await client.delete(Cluster, lost);
  const touch = (note: string) =>
    client.patch(Cluster, lost, { type: "merge", body: { metadata: { annotations: { "example.com/note": note } } } });
  const isHeld = async (): Promise<boolean> =>
    (await client.get(HostedControlPlane, lost)).metadata.finalizers?.includes(fleetFinalizer) === true;
  ahead = ABANDONED - 1_000;
  await touch("1");
  expect(await isHeld()).toBe(true);
  expect(await cloud.loadBalancing.loadBalancers.find(balancer.id)).toBeDefined();
  ahead = 2 * ABANDONED;
  await touch("2");
  await expect.poll(isHeld, { timeout: 30_000 }).toBe(false);
  expect(await cloud.loadBalancing.loadBalancers.all({ name: balancer.name })).toEqual([]);
  await expect
    .poll(async () => (await client.list(Event, { namespace: "default" })).items.map(({ message }) => message))
    .toContain(
      `the API of the cluster could not be reached, so that its load balancers were searched by name in the cloud: load balancer ${balancer.name} (${balancer.id}) removed`,
    );
  await cloud.close();
  // The sweep had a client of the cloud, too, and is no member.
  started -= 1;
});

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
