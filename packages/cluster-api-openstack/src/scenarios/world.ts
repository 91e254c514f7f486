/**
 * Everything that the tests of the whole provider share: an API server, a cloud, and the controllers as one process
 * would run them.
 */
import {
  allKinds,
  Cluster,
  Machine,
  OpenStackCluster,
  OpenStackMachine,
  toCustomResourceDefinition,
} from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { silentLog, systemClock, type Clock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  isAlreadyExists,
  loadKubeconfig,
  Namespace,
  Secret,
  type KubeObject,
  type KubernetesClient,
  type Shards,
} from "@causeway/kubernetes";
import { createCloudPool, type WatchIntervals } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { afterAll, beforeAll } from "vitest";
import { createOpenStackInfrastructure } from "../infrastructure.ts";
import { demoSpec } from "../testing/objects.ts";

/** The namespace of all objects of these tests. */
export const namespace = "default";
/** Text as Secrets hold it. */
export const base64 = (text: string) => Buffer.from(text).toString("base64");
const labels = (cluster: string) => ({ "cluster.x-k8s.io/cluster-name": cluster });
const owner = (kind: string, { metadata }: KubeObject) => [
  { apiVersion: "cluster.x-k8s.io/v1beta2", kind, name: metadata.name, uid: metadata.uid ?? "", controller: true },
];

/** The condition of a type in an object's status; undefined: there is none, or no object. */
export const condition = (object: OpenStackCluster | OpenStackMachine | undefined, type: string) =>
  object?.status?.conditions?.find((c) => c.type === type);

/** Brings one up before the tests of a file, and ends it after them. */
export function openInfrastructure() {
  let api: ApiServer;
  let simulator: Simulator;
  let client: KubernetesClient;
  /** The namespace of what is created. */
  let place = namespace;

  beforeAll(async () => {
    [api, simulator] = await Promise.all([
      startApiServer({ crds: allKinds.map(toCustomResourceDefinition) }),
      startSimulator({ profile: "instant" }),
    ]);
    client = createClient(loadKubeconfig({ text: await api.management.kubeconfig() }));
  });

  afterAll(async () => {
    await client.close();
    await Promise.all([api.close(), simulator.close()]);
  });

  /**
   * The controllers as one process would run them, with pauses between polls that suit a test. `kill` ends them
   * wherever they are.
   */
  function start(
    intervals: WatchIntervals = { fast: 20, fastest: 20 },
    shards?: Shards,
    holdDeletions?: () => boolean,
    clock: Clock = systemClock,
  ) {
    const stop = new AbortController();
    const informers = createInformers(client, { log: silentLog });
    const clouds = createCloudPool({ intervals, holdDeletions, clock });
    const events = createEventRecorder(client, { component: "test" });
    const infrastructure = createOpenStackInfrastructure({
      informers,
      clouds,
      clock,
      log: silentLog,
      events,
      shards,
    });
    const running = Promise.all([informers.run(stop.signal), infrastructure.run(stop.signal)]);
    return {
      async kill() {
        stop.abort();
        await clouds.close();
        await running.catch(() => {});
        await events.flush();
      },
    };
  }

  async function createCredentials(name: string, cloudsYaml = simulator.cloudsYaml): Promise<void> {
    const data = { "clouds.yaml": base64(cloudsYaml) };
    await client.create(Secret, { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: place }, data });
  }

  async function createCluster(
    name: string,
    spec: Partial<OpenStackCluster["spec"]> = demoSpec,
    cloudsYaml = simulator.cloudsYaml,
  ): Promise<void> {
    await createCredentials(`${name}-cloud`, cloudsYaml);
    const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackCluster", name };
    const cluster = await client.create(Cluster, {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      metadata: { name, namespace: place },
      spec: { infrastructureRef },
    });
    await createOpenStackCluster(cluster, spec);
  }

  async function createOpenStackCluster(cluster: Cluster, spec: Partial<OpenStackCluster["spec"]>): Promise<void> {
    const { name } = cluster.metadata;
    await client.create(OpenStackCluster, {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "OpenStackCluster",
      metadata: { name, namespace: place, labels: labels(name), ownerReferences: owner("Cluster", cluster) },
      spec: { identityRef: { name: `${name}-cloud`, cloudName: "simulator" }, ...spec },
    });
  }

  /** The OpenStackCluster of a Cluster whose earlier one was deleted. */
  async function createAgain(name: string): Promise<void> {
    await createOpenStackCluster(await client.get(Cluster, { namespace: place, name }), demoSpec);
  }

  async function createMachine(
    cluster: string,
    name: string,
    spec: Partial<OpenStackMachine["spec"]> = {},
  ): Promise<void> {
    await client.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace: place },
      data: { value: base64("#cloud-config\npassword-of-the-node: s3cret\n") },
    });
    const machine = await client.create(Machine, {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Machine",
      metadata: { name, namespace: place, labels: labels(cluster) },
      spec: {
        clusterName: cluster,
        version: "v1.34.0",
        bootstrap: { dataSecretName: name },
        infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackMachine", name },
      },
    });
    await client.create(OpenStackMachine, {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "OpenStackMachine",
      metadata: { name, namespace: place, labels: labels(cluster), ownerReferences: owner("Machine", machine) },
      spec: { flavor: { filter: { name: "m1.tiny" } }, image: { filter: { name: "cirros" } }, ...spec },
    });
  }

  async function until<T>(what: string, check: () => Promise<T | undefined | false>): Promise<T> {
    for (const end = Date.now() + 120_000; ;) {
      const seen = await check();
      if (seen) return seen;
      if (Date.now() > end) {
        const objects = [
          ...(await client.list(OpenStackCluster)).items,
          ...(await client.list(OpenStackMachine)).items,
        ];
        throw new Error(
          `waited for ${what} in vain: ${JSON.stringify(
            objects.map((o) => o.status?.conditions),
            null,
            1,
          )}`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
  }

  const clusterReady = (name: string) =>
    until(`cluster ${name}`, async () => {
      const cluster = await client.get(OpenStackCluster, { namespace: place, name });
      return cluster.status?.initialization?.provisioned && cluster;
    });
  const machineReady = (name: string) =>
    until(`machine ${name}`, async () => {
      const machine = await client.get(OpenStackMachine, { namespace: place, name });
      return condition(machine, "Ready")?.status === "True" && machine;
    });

  async function remove(name: string, machines: readonly string[] = []): Promise<void> {
    for (const machine of machines) await client.delete(OpenStackMachine, { namespace: place, name: machine });
    await client.delete(OpenStackCluster, { namespace: place, name });
    await until(`${name} to go`, async () => {
      const left = [
        client.find(OpenStackCluster, { namespace: place, name }),
        ...machines.map((m) => client.find(OpenStackMachine, { namespace: place, name: m })),
      ];
      return (await Promise.all(left)).every((object) => object === undefined);
    });
  }

  async function removeMachine(name: string): Promise<void> {
    await client.delete(OpenStackMachine, { namespace: place, name });
    await until(
      `${name} to go`,
      async () => (await client.find(OpenStackMachine, { namespace: place, name })) === undefined,
    );
  }

  /** What the project has, without the ids. */
  const inventory = () =>
    simulator
      .inventory("demo")
      .map((line) =>
        line
          .split(" ")
          .filter((_, i) => i !== 1)
          .join(" "),
      )
      .sort();
  const writes = () => simulator.calls.filter((c) => c.method !== "GET" && c.service !== "identity").length;

  /** Rests when no write has come for a while: what was begun before is over. */
  async function rested(): Promise<void> {
    for (let before = -1; before !== writes();) {
      before = writes();
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }

  /** A provider that is killed before it has removed its finalizer from the Secret leaves a Secret that cannot go. */
  async function released(cluster: string): Promise<void> {
    await until("the credentials to be released", async () => {
      const secret = await client.find(Secret, { namespace: place, name: `${cluster}-cloud` });
      return (secret?.metadata.finalizers ?? []).length === 0;
    });
  }

  async function wipe(cluster: string, machine: string): Promise<void> {
    await client.delete(Secret, { namespace: place, name: `${cluster}-cloud` });
    await client.delete(Secret, { namespace: place, name: machine });
    await client.delete(Cluster, { namespace: place, name: cluster });
    await client.delete(Machine, { namespace: place, name: machine });
  }

  /** All requests to the cloud in `act` go to another one. */
  async function inside(other: Simulator, act: () => Promise<void>): Promise<void> {
    const usual = simulator;
    simulator = other;
    try {
      await act();
    } finally {
      simulator = usual;
    }
  }

  /** All objects in `act` are of another namespace, which is created. */
  async function inNamespace<T>(name: string, act: () => Promise<T>): Promise<T> {
    await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } }).catch((error) => {
      if (!isAlreadyExists(error)) throw error;
    });
    place = name;
    try {
      return await act();
    } finally {
      place = namespace;
    }
  }

  return {
    get client() {
      return client;
    },
    get simulator() {
      return simulator;
    },
    start,
    createCredentials,
    createCluster,
    createAgain,
    createMachine,
    until,
    clusterReady,
    machineReady,
    remove,
    removeMachine,
    inventory,
    writes,
    rested,
    released,
    wipe,
    inside,
    inNamespace,
  };
}
