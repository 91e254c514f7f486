/**
 * A rolling upgrade of two replicas of `causeway run cluster-api-openstack`, and of `causeway run
 * hosted-control-plane`, that elect a leader on a real kube-apiserver: replicas are replaced one after the other, by
 * SIGTERM and once by SIGKILL, while objects are created and deleted. The changing calls to the cloud are counted.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  allKinds,
  Cluster,
  HostedControlPlane,
  Machine,
  OpenStackCluster,
  OpenStackMachine,
  toCustomResourceDefinition,
} from "@causeway/api";
import {
  createClient,
  CustomResourceDefinition,
  Deployment,
  isAlreadyExists,
  Lease,
  loadKubeconfig,
  Namespace,
  ownerReference,
  PersistentVolumeClaim,
  Secret,
  Service,
  StatefulSet,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startKubeApiserver } from "../contracts/kubernetes/kube-apiserver.ts";
import { freePort } from "../support/free-ports.ts";
import { programs } from "./programs.ts";
import { LONG, Replicas } from "./replicas.ts";
import { callsFrom, createTenants, sum } from "./tenants.ts";
import { until } from "./runtime-world.ts";
import { administrator } from "./servers.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 300_000 });

const { kubernetes } = programs();
const why = "reason" in kubernetes ? kubernetes.reason : undefined;

const crds = [...new Map(allKinds.map((kind) => [kind.kind, kind])).values()].map(toCustomResourceDefinition);

describe.skipIf(why !== undefined)(`two replicas of a manager${why === undefined ? "" : ` (${why})`}`, () => {
  let real: Awaited<ReturnType<typeof startKubeApiserver>>;
  let client: KubernetesClient;
  let simulator: Simulator;
  let dir: string;
  let kubeconfig: string;
  const started: Replicas[] = [];
  beforeAll(async () => {
    real = await startKubeApiserver({ without: ["ServiceAccount"] });
    simulator = await startSimulator({ profile: "instant" });
    dir = mkdtempSync(join(tmpdir(), "rolling-managers-"));
    kubeconfig = join(dir, "kubeconfig");
    writeFileSync(kubeconfig, await administrator(real), { mode: 0o600 });
    client = createClient(loadKubeconfig({ path: kubeconfig }));
    for (const crd of crds) await client.create(CustomResourceDefinition, crd);
    for (const type of [Cluster, OpenStackCluster, Machine, OpenStackMachine, HostedControlPlane])
      await until(`kind ${type.kind}`, () => client.list(type as ResourceType<KubeObject>, { namespace: "default" }));
    for (const name of ["capo-system", "causeway-system", "kube-system"])
      await client
        .create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } })
        .catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
        });
  });
  afterAll(async () => {
    await Promise.all(started.map((each) => each.stop()));
    await client?.close();
    await Promise.all([real?.close(), simulator?.close()]);
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
  });

  const replicas = async (
    argumentsOf: () => Promise<readonly string[]>,
    lease: { namespace: string; name?: string },
  ): Promise<Replicas> => {
    const find = async (): Promise<Lease | undefined> => {
      const { items } = await client.list(Lease, { namespace: lease.namespace });
      return items.find(({ metadata }) => lease.name === undefined || metadata.name === lease.name);
    };
    const found = new Replicas(argumentsOf, find);
    started.push(found);
    await found.add();
    await until("a leader", find, LONG);
    await found.add();
    return found;
  };

  test("of the OpenStack provider make each resource once, and remove each once", { retry: 0 }, async () => {
    const cloud = createTenants(client, simulator);
    const manager = await replicas(
      async () => [
        "cluster-api-openstack",
        `--kubeconfig=${kubeconfig}`,
        "--leader-elect",
        `--webhook-port=${await freePort()}`,
        "--health-addr=0",
        "--diagnostics-address=0",
      ],
      { namespace: "capo-system" },
    );
    const empty = simulator.inventory("demo").length;
    // What one tenant costs without a replacement, and what it has.
    let from = simulator.calls.length;
    await cloud.create("alone");
    await cloud.ready("alone");
    const made = cloud.inventory("alone");
    await cloud.remove("alone");
    await cloud.gone("alone");
    const ofOne = callsFrom(simulator, from);

    from = simulator.calls.length;
    const signals = ["SIGTERM", "SIGTERM", "SIGKILL", "SIGTERM"] as const;
    const names = ["red", "green", "blue", "white", "black", "grey", "brown", "pink"];
    // Each replacement begins in the midst of creations, and deletions from the second one on.
    for (const [index, signal] of signals.entries()) {
      const fresh = names.slice(2 * index, 2 * index + 2);
      for (const name of fresh) await cloud.create(name);
      if (index > 0) for (const name of names.slice(2 * index - 2, 2 * index - 1)) await cloud.remove(name);
      const calls = simulator.calls.length;
      await until("calls for the new ones", async () => (simulator.calls.length > calls + 4 ? true : undefined), LONG);
      await manager.replace(signal);
      for (const name of fresh) await cloud.ready(name);
      for (const name of fresh)
        expect(cloud.inventory(name)).toEqual(made.map((line) => line.replaceAll("alone", name)));
    }
    const left = names.filter((name) => !["red", "blue", "black"].includes(name));
    for (const name of left) await cloud.remove(name);
    for (const name of names) await cloud.gone(name);
    expect(simulator.inventory("demo")).toHaveLength(empty);

    const all = callsFrom(simulator, from);
    console.log({ tenants: names.length, replaced: signals.length, changing: sum(all), ofOne: sum(ofOne) });
    const surplus = [...all].flatMap(([call, count]) => {
      const expected = (ofOne.get(call) ?? 0) * names.length;
      return count === expected ? [] : [`${call}: ${count} in place of ${expected}`];
    });
    console.log({ surplus });
    // A killed process may have had one call under way, which the next one repeats in vain; none makes anything twice.
    expect(surplus.filter((line) => line.startsWith("POST"))).toEqual([]);
    expect(sum(all) - sum(ofOne) * names.length).toBeLessThanOrEqual(1);
  });

  test("of hosted control planes make one of each object, with the roots of the beginning", { retry: 0 }, async () => {
    const manager = await replicas(
      async () => [
        "hosted-control-plane",
        `--kubeconfig=${kubeconfig}`,
        "--owner=rolling",
        "--pool-members=1",
        "--leader-elect=true",
      ],
      { namespace: "causeway-system" },
    );
    const namespaceOf = async (name: string): Promise<string | undefined> =>
      (await client.list(Namespace)).items.find(({ metadata }) => metadata.name.startsWith(`hcp-${name}-`))?.metadata
        .name;
    const roots = new Map<string, string>();
    const checkRoots = async (name: string): Promise<void> => {
      const namespace = (await namespaceOf(name)) ?? "";
      const places = [
        ...["etcd-ca", "encryption"].map((root) => ({ namespace, name: root })),
        ...["ca", "sa", "proxy"].map((root) => ({ namespace: "default", name: `${name}-${root}` })),
      ];
      for (const place of places) {
        const secret = namespace === "" ? undefined : await client.find(Secret, place);
        if (secret === undefined) continue;
        const id = `${place.namespace}/${place.name}`;
        const content = JSON.stringify([secret.metadata.uid, secret.data]);
        expect(content, id).toBe(roots.get(id) ?? content);
        roots.set(id, content);
      }
    };
    const names = ["one", "two", "three", "four"];
    for (const [index, signal] of (["SIGTERM", "SIGKILL", "SIGTERM", "SIGTERM"] as const).entries()) {
      const name = names[index] ?? "";
      await createControlPlane(client, name);
      if (index > 0) await client.delete(HostedControlPlane, { namespace: "default", name: names[index - 1] ?? "" });
      await until(`the namespace of ${name}`, () => namespaceOf(name), LONG);
      await checkRoots(name);
      await manager.replace(signal);
      // No kubelet runs here: etcd is as far as it comes.
      await until(
        `etcd of ${name}`,
        async () => client.find(StatefulSet, { namespace: (await namespaceOf(name)) ?? "", name: "etcd" }),
        LONG,
      );
      await checkRoots(name);
      if (index > 0)
        await until(
          `${names[index - 1]} to be requested to go`,
          async () => {
            const namespace = await namespaceOf(names[index - 1] ?? "");
            if (namespace === undefined) return true;
            const found = await client.find(Namespace, { namespace: "", name: namespace });
            return found?.metadata.deletionTimestamp === undefined ? undefined : true;
          },
          LONG,
        );
    }
    const namespace = (await namespaceOf("four")) ?? "";
    const namesOf = async (type: ResourceType<KubeObject>): Promise<string[]> =>
      (await client.list(type, { namespace })).items.map(({ metadata }) => metadata.name);
    expect(await namesOf(StatefulSet as ResourceType<KubeObject>)).toEqual(["etcd"]);
    expect(
      (await namesOf(Service as ResourceType<KubeObject>)).filter((name) => name === "kube-apiserver"),
    ).toHaveLength(1);
    expect(await namesOf(Deployment as ResourceType<KubeObject>)).toEqual([]);
    expect(await namesOf(PersistentVolumeClaim as ResourceType<KubeObject>)).toEqual([]);
    expect(
      (await client.list(Namespace)).items.filter(({ metadata }) => metadata.name.startsWith("hcp-four-")),
    ).toHaveLength(1);
    console.log({ roots: [...roots.keys()].length });
    expect([...roots.keys()].length).toBe(names.length * 5);
  });
});

async function createControlPlane(client: KubernetesClient, name: string): Promise<void> {
  const cluster = await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { namespace: "default", name },
    spec: { controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name } },
  });
  await client.create(HostedControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata: {
      namespace: "default",
      name,
      labels: { "cluster.x-k8s.io/cluster-name": name },
      ownerReferences: [ownerReference(cluster, { controller: true })],
    },
    spec: {
      version: "v1.34.4",
      runtime: "Pods",
      endpoint: { host: "192.0.2.1" },
      pods: { exposure: "NodePort", datastore: { type: "Own" } },
    },
  } as HostedControlPlane);
}
