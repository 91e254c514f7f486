import {
  allKinds,
  Cluster,
  Machine,
  OpenStackCluster,
  OpenStackMachine,
  toCustomResourceDefinition,
} from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  Event,
  loadKubeconfig,
  Secret,
  type KubeObject,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { createCloudPool } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOpenStackInfrastructure } from "./infrastructure.ts";
import { demoSpec } from "./testing/objects.ts";

let api: ApiServer;
let simulator: Simulator;
let client: KubernetesClient;

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

/** The controllers as one process would run them. `kill` ends them wherever they are. */
function start() {
  const stop = new AbortController();
  const informers = createInformers(client, { log: silentLog });
  const clouds = createCloudPool({ intervals: { fast: 20, fastest: 20 } });
  const events = createEventRecorder(client, { component: "test" });
  const infrastructure = createOpenStackInfrastructure({
    informers,
    clouds,
    clock: systemClock,
    log: silentLog,
    events,
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

const namespace = "default";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const labels = (cluster: string) => ({ "cluster.x-k8s.io/cluster-name": cluster });
const owner = (kind: string, { metadata }: KubeObject) => [
  { apiVersion: "cluster.x-k8s.io/v1beta2", kind, name: metadata.name, uid: metadata.uid ?? "", controller: true },
];

async function createCluster(
  name: string,
  spec: Partial<OpenStackCluster["spec"]> = demoSpec,
  cloudsYaml = simulator.cloudsYaml,
): Promise<void> {
  const data = { "clouds.yaml": base64(cloudsYaml) };
  await client.create(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `${name}-cloud`, namespace },
    data,
  });
  const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackCluster", name };
  const cluster = await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name, namespace },
    spec: { infrastructureRef },
  });
  await client.create(OpenStackCluster, {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "OpenStackCluster",
    metadata: { name, namespace, labels: labels(name), ownerReferences: owner("Cluster", cluster) },
    spec: { identityRef: { name: `${name}-cloud`, cloudName: "simulator" }, ...spec },
  });
}

async function createMachine(
  cluster: string,
  name: string,
  spec: Partial<OpenStackMachine["spec"]> = {},
): Promise<void> {
  await client.create(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace },
    data: { value: base64("#cloud-config\npassword-of-the-node: s3cret\n") },
  });
  const machine = await client.create(Machine, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: { name, namespace, labels: labels(cluster) },
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
    metadata: { name, namespace, labels: labels(cluster), ownerReferences: owner("Machine", machine) },
    spec: { flavor: { filter: { name: "m1.tiny" } }, image: { filter: { name: "cirros" } }, ...spec },
  });
}

async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (const end = Date.now() + 120_000; ;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > end) {
      const objects = [...(await client.list(OpenStackCluster)).items, ...(await client.list(OpenStackMachine)).items];
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
    const cluster = await client.get(OpenStackCluster, { namespace, name });
    return cluster.status?.initialization?.provisioned && cluster;
  });
const condition = (object: OpenStackCluster | OpenStackMachine | undefined, type: string) =>
  object?.status?.conditions?.find((c) => c.type === type);
const machineReady = (name: string) =>
  until(`machine ${name}`, async () => {
    const machine = await client.get(OpenStackMachine, { namespace, name });
    return condition(machine, "Ready")?.status === "True" && machine;
  });

async function remove(name: string, machines: readonly string[] = []): Promise<void> {
  for (const machine of machines) await client.delete(OpenStackMachine, { namespace, name: machine });
  await client.delete(OpenStackCluster, { namespace, name });
  await until(`${name} to go`, async () => {
    const left = [
      client.find(OpenStackCluster, { namespace, name }),
      ...machines.map((m) => client.find(OpenStackMachine, { namespace, name: m })),
    ];
    return (await Promise.all(left)).every((object) => object === undefined);
  });
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

describe("the infrastructure provider in a cloud that takes its time", () => {
  let slow: Simulator;
  beforeAll(async () => {
    slow = await startSimulator({
      profile: "instant",
      delays: { "server.create": 60_000, "loadbalancer.amphora.create": 700, "loadbalancer.amphora.delete": 200 },
    });
  });
  afterAll(() => slow.close());

  it("takes away what is still being made", async () => {
    const fast = simulator;
    simulator = slow;
    try {
      const before = inventory();
      const process = start();
      await createCluster("early", { ...demoSpec, apiServer: { managedLoadBalancer: { enabled: true } } });
      await until("a load balancer", async () => inventory().some((line) => line.includes("kubeapi")));
      await createCluster("late");
      await clusterReady("late");
      await createMachine("late", "late-a");
      await until("a server", async () => inventory().some((line) => line.startsWith("server late-a")));
      await Promise.all([remove("early"), remove("late", ["late-a"])]);
      await process.kill();
      expect(inventory()).toEqual(before);
    } finally {
      simulator = fast;
    }
  });
});

describe("the infrastructure provider in the simulated cloud", () => {
  it("makes a cluster and its machines, leaves them alone, and takes everything away", async () => {
    const before = inventory();
    const process = start();
    await createCluster("whole");
    await clusterReady("whole");
    await Promise.all(
      ["whole-a", "whole-b"].map((name) => createMachine("whole", name, { rootVolume: { sizeGiB: 1 } })),
    );
    const machine = await machineReady("whole-a");
    await machineReady("whole-b");
    expect(machine.spec.providerID).toMatch(/^openstack:\/\/\/[0-9a-f-]{36}$/);
    expect(machine.status?.addresses?.[0]).toMatchObject({
      type: "InternalIP",
      address: expect.stringMatching(/^10\.6\.0\./),
    });

    const quiet = writes();
    const calls = simulator.calls.length;
    await client.patch(
      OpenStackCluster,
      { namespace, name: "whole" },
      { type: "merge", body: { metadata: { annotations: { poke: "1" } } } },
    );
    await client.patch(
      OpenStackMachine,
      { namespace, name: "whole-a" },
      { type: "merge", body: { metadata: { annotations: { poke: "1" } } } },
    );
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(writes()).toBe(quiet);
    const read = simulator.calls.slice(calls).map((c) => c.path.split("?")[0] ?? "");
    expect(read.filter((path) => /[0-9a-f]{8}-[0-9a-f]{4}/.test(path))).toEqual([]);

    await remove("whole", ["whole-a", "whole-b"]);
    await process.kill();
    expect(inventory()).toEqual(before);
    const reasons = (await client.list(Event, { namespace })).items.map((e) => e.reason);
    expect(reasons).toEqual(
      expect.arrayContaining(["SuccessfulCreateNetwork", "SuccessfulCreateServer", "SuccessfulDeleteNetwork"]),
    );
  });

  it("puts a load balancer with a floating IP before control planes, and takes it away", async () => {
    const before = inventory();
    const process = start();
    await createCluster("balanced", {
      ...demoSpec,
      tags: ["blue"],
      apiServer: { managedLoadBalancer: { enabled: true } },
    });
    const cluster = await clusterReady("balanced");
    expect(cluster.spec.controlPlaneEndpoint).toEqual({ host: expect.stringMatching(/^172\.24\.4\./), port: 6443 });
    await remove("balanced");
    await process.kill();
    expect(inventory()).toEqual(before);
  });

  it("says what is wrong with credentials, flavors and quotas in plain words, and goes on when it is mended", async () => {
    const process = start();
    await createCluster("wrong", { ...demoSpec, identityRef: { name: "wrong-cloud", cloudName: "nowhere" } });
    const refused = await until("a refusal", async () => {
      const object = await client.get(OpenStackCluster, { namespace, name: "wrong" });
      // The Secret may reach the cache a moment later than the object that names it.
      return condition(object, "OpenStackAuthenticationSucceeded")?.message?.includes("nowhere") && object;
    });
    expect(condition(refused, "Ready")?.message).toMatch(/nowhere/);
    expect(refused.metadata.finalizers ?? []).toEqual([]);
    const mended = { spec: { identityRef: { cloudName: "simulator" } } };
    simulator.setQuota("demo", "network", 0);
    await client.patch(OpenStackCluster, { namespace, name: "wrong" }, { type: "merge", body: mended });
    const full = await until("the quota", async () => {
      const object = await client.get(OpenStackCluster, { namespace, name: "wrong" });
      return condition(object, "NetworkReady")?.reason === "QuotaExceeded" && object;
    });
    expect(condition(full, "Ready")?.message).toMatch(/[Qq]uota/);
    simulator.setQuota("demo", "network", 100);
    // A new generation lifts the pause.
    await client.patch(
      OpenStackCluster,
      { namespace, name: "wrong" },
      { type: "merge", body: { spec: { primarySubnet: { filter: { cidr: "10.6.0.0/24" } } } } },
    );
    await clusterReady("wrong");
    await createMachine("wrong", "wrong-a", { flavor: { filter: { name: "m1.tinny" } } });
    const machine = await until("InvalidMachineSpec", async () => {
      const object = await client.get(OpenStackMachine, { namespace, name: "wrong-a" });
      return condition(object, "InstanceReady")?.reason === "InvalidMachineSpec" && object;
    });
    expect(condition(machine, "Ready")?.message).toMatch(/no flavor m1\.tinny; close to it: m1\.tiny/);
    await remove("wrong", ["wrong-a"]);
    await process.kill();
  });

  it("says that a password is wrong without telling it, and works with the next one", async () => {
    const process = start();
    const wrong = simulator.cloudsYaml.replaceAll(/password: .*/g, "password: not-the-password");
    expect(wrong).not.toBe(simulator.cloudsYaml);
    await createCluster("locked", demoSpec, wrong);
    const refused = await until("a refusal", async () => {
      const object = await client.get(OpenStackCluster, { namespace, name: "locked" });
      return condition(object, "OpenStackAuthenticationSucceeded")?.reason === "AuthenticationFailed" && object;
    });
    expect(JSON.stringify(refused)).not.toContain("not-the-password");
    const data = { "clouds.yaml": base64(simulator.cloudsYaml) };
    await client.patch(Secret, { namespace, name: "locked-cloud" }, { type: "merge", body: { data } });
    await clusterReady("locked");
    await remove("locked");
    await process.kill();
  });

  it("writes no secret into events, conditions or objects", async () => {
    const process = start();
    await createCluster("quiet");
    await clusterReady("quiet");
    await createMachine("quiet", "quiet-a");
    await machineReady("quiet-a");
    await remove("quiet", ["quiet-a"]);
    await process.kill();
    const told = JSON.stringify((await client.list(Event, { namespace })).items);
    expect(told).not.toContain("s3cret");
    expect(told).not.toContain(base64("#cloud-config\npassword-of-the-node: s3cret\n"));
  });

  it("has exactly one of each when it is killed at any call and loses the answer, and leaves nothing after", async () => {
    const before = inventory();
    const spec = { ...demoSpec, tags: ["blue"] };
    const uncut = start();
    const from = writes();
    await createCluster("cut-ref", spec);
    await clusterReady("cut-ref");
    await createMachine("cut-ref", "cut-ref-a");
    await machineReady("cut-ref-a");
    const made = inventory().map((line) => line.replaceAll("cut-ref", "cut"));
    const total = writes() - from;
    await remove("cut-ref", ["cut-ref-a"]);
    await uncut.kill();
    expect(inventory()).toEqual(before);
    expect(total).toBeGreaterThan(10);

    for (let cut = 1; cut <= total; cut++) {
      await wipe("cut", "cut-a");
      let seen = 0;
      let reached: () => void = () => {};
      const atCut = new Promise<void>((resolve) => (reached = resolve));
      simulator.setFaults((call) => {
        if (call.method === "GET" || call.service === "identity" || ++seen !== cut) return undefined;
        reached();
        return { when: cut % 2 === 0 ? "before" : "after", cut: true };
      });
      const first = start();
      await createCluster("cut", spec);
      await createMachine("cut", "cut-a");
      await atCut;
      await first.kill();
      simulator.setFaults(undefined);
      const second = start();
      await clusterReady("cut");
      await machineReady("cut-a");
      expect(inventory(), `after call ${cut}`).toEqual(made);
      await remove("cut", ["cut-a"]);
      await second.kill();
      expect(inventory(), `deleted after call ${cut}`).toEqual(before);
    }
  });

  it("leaves nothing when it is killed at any call of its deletion", async () => {
    const before = inventory();
    for (let cut = 1, done = false; !done; cut++) {
      await wipe("gone", "gone-a");
      const first = start();
      await createCluster("gone");
      await clusterReady("gone");
      await createMachine("gone", "gone-a");
      await machineReady("gone-a");
      let seen = 0;
      let reached: () => void = () => {};
      const atCut = new Promise<boolean>((resolve) => (reached = () => resolve(true)));
      simulator.setFaults((call) => {
        if (call.method === "GET" || call.service === "identity" || ++seen !== cut) return undefined;
        reached();
        return { when: cut % 2 === 0 ? "before" : "after", cut: true };
      });
      const removed = remove("gone", ["gone-a"]);
      done = !(await Promise.race([atCut, removed.then(() => false)]));
      await first.kill();
      simulator.setFaults(undefined);
      const second = start();
      await removed;
      await second.kill();
      expect(inventory(), `after call ${cut}`).toEqual(before);
      expect(cut).toBeLessThan(30);
    }
  });

  async function wipe(cluster: string, machine: string): Promise<void> {
    await client.delete(Secret, { namespace, name: `${cluster}-cloud` });
    await client.delete(Secret, { namespace, name: machine });
    await client.delete(Cluster, { namespace, name: cluster });
    await client.delete(Machine, { namespace, name: machine });
  }
});
