import { afterEach, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import {
  allKinds,
  Cluster,
  ClusterResourceSet,
  ClusterResourceSetBinding,
  conversionsOf,
  MachinePool,
  toCustomResourceDefinition,
  type Kind,
} from "@causeway/api";
import {
  ConfigMap,
  getCondition,
  isNotFound,
  Node,
  Secret,
  type KubeObject,
  type ResourceType,
} from "@causeway/kubernetes";
import { everything } from "../testing/manifests.ts";
import { key, namespace, World } from "../testing/world.ts";

/** An infrastructure provider's pool, by the contract. */
const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const StubMachinePool: Kind<KubeObject> = {
  ...MachinePool,
  group: "infrastructure.cluster.x-k8s.io",
  kind: "StubMachinePool",
  plural: "stubmachinepools",
  shortNames: [],
  columns: [],
  versions: [],
  schema: { type: "object", properties: { spec: open, status: open } },
};
const kinds = [...allKinds, StubMachinePool];

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

async function started(): Promise<World> {
  const crds = kinds.map((kind) => toCustomResourceDefinition(kind));
  world = await World.start(await startApiServer({ crds, conversions: conversionsOf(kinds) }));
  world.run(kinds);
  await world.apply(...everything(0));
  await world.until("a connection", async () => {
    const found = await world?.client.get(Cluster, key("demo"));
    return getCondition(found?.status?.conditions, "RemoteConnectionProbe")?.status === "True";
  });
  return world;
}

const gone = (w: World, type: ResourceType<KubeObject>, name: string) =>
  w.until(`${type.kind} ${name} gone`, async () => {
    try {
      await w.client.get(type, key(name));
      return undefined;
    } catch (error) {
      return isNotFound(error);
    }
  });

test("a ClusterResourceSet is applied once, or again whenever its content changes", { timeout: 120_000 }, async () => {
  const w = await started();
  const content = (value: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, namespace: kube-system}\ndata: {value: "${value}"}\n`;
  const sets = [
    ["once", "ApplyOnce"],
    ["always", "Reconcile"],
  ] as const;
  await w.client.patch(Cluster, key("demo"), { type: "merge", body: { metadata: { labels: { cni: "yes" } } } });
  for (const [name, strategy] of sets) {
    await w.client.create(ConfigMap, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace },
      data: { "a.yaml": content("1").replace("NAME", name) },
    });
    await w.client.create(ClusterResourceSet, {
      apiVersion: "addons.cluster.x-k8s.io/v1beta2",
      kind: "ClusterResourceSet",
      metadata: { name, namespace },
      spec: { clusterSelector: { matchLabels: { cni: "yes" } }, resources: [{ kind: "ConfigMap", name }], strategy },
    });
  }
  const value = async (name: string) =>
    (await w.inside.get(ConfigMap, { namespace: "kube-system", name })).data?.["value"];
  const applied = (name: string) =>
    w.until(`ResourcesApplied of ${name}`, async () => {
      const found = await w.client.get(ClusterResourceSet, key(name));
      return getCondition(found.status?.conditions, "ResourcesApplied")?.status === "True";
    });
  for (const [name] of sets) await applied(name);
  expect([await value("once"), await value("always")]).toEqual(["1", "1"]);

  for (const [name] of sets) {
    const body = { data: { "a.yaml": content("2").replace("NAME", name) } };
    await w.client.patch(ConfigMap, key(name), { type: "merge", body });
  }
  await w.until("the second content", async () => (await value("always")) === "2");
  for (const [name] of sets) await applied(name);
  expect(await value("once")).toBe("1");

  const binding = await w.client.get(ClusterResourceSetBinding, key("demo"));
  expect(binding.spec.bindings?.map((one) => one.clusterResourceSetName).toSorted()).toEqual(["always", "once"]);
  for (const [name] of sets) await w.client.delete(ClusterResourceSet, key(name));
  for (const [name] of sets) await gone(w, ClusterResourceSet, name);
  await gone(w, ClusterResourceSetBinding, "demo");
  expect(await value("always")).toBe("2");
});

test(
  "a MachinePool gets bootstrap data, names its Nodes, and is deleted with its Cluster",
  { timeout: 120_000 },
  async () => {
    const w = await started();
    const reference = (group: string, kind: string) => ({ apiGroup: `${group}.cluster.x-k8s.io`, kind, name: "pool" });
    const create = (type: ResourceType<KubeObject>, object: object) => w.client.create(type, object as KubeObject);
    await create(StubMachinePool, {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "StubMachinePool",
      metadata: { name: "pool", namespace },
      spec: {},
    });
    const config = kinds.find(({ kind }) => kind === "KubeadmConfig");
    if (!config) throw new Error("KubeadmConfig is not served");
    await create(config, {
      apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
      kind: "KubeadmConfig",
      metadata: { name: "pool", namespace },
      spec: {},
    });
    await w.client.create(MachinePool, {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "MachinePool",
      metadata: { name: "pool", namespace },
      spec: {
        clusterName: "demo",
        replicas: 1,
        template: {
          spec: {
            clusterName: "demo",
            version: "v1.34.0",
            bootstrap: { configRef: reference("bootstrap", "KubeadmConfig") },
            infrastructureRef: reference("infrastructure", "StubMachinePool"),
          },
        },
      },
    });
    const secret = await w.until("the bootstrap data", async () => {
      const found = await w.client.get(MachinePool, key("pool"));
      const name = found.spec.template.spec.bootstrap.dataSecretName;
      return name ? w.client.get(Secret, key(name)) : undefined;
    });
    const userData = Buffer.from(secret.data?.["value"] ?? "", "base64").toString("utf8");
    expect(userData).toContain("kubeadm join");
    expect(userData).not.toContain("name: pool");

    await w.client.patch(StubMachinePool, key("pool"), {
      type: "merge",
      body: { spec: { providerIDList: ["openstack:///p-1"] } },
    });
    const status = { initialization: { provisioned: true }, replicas: 1 };
    await w.client.patch(StubMachinePool, key("pool"), { type: "merge", body: { status } }, { subresource: "status" });
    await w.join("p-1");
    const running = await w.until("a pool that is Running", async () => {
      const found = await w.client.get(MachinePool, key("pool"));
      return found.status?.phase === "Running" ? found : undefined;
    });
    expect(running.status).toMatchObject({ replicas: 1, readyReplicas: 1, nodeRefs: [{ kind: "Node", name: "p-1" }] });
    await w.until("a Node without its start taint", async () => {
      const found = await w.inside.get(Node, { namespace: "", name: "p-1" });
      return (
        (found.spec?.taints ?? []).length === 0 &&
        found.metadata.annotations?.["cluster.x-k8s.io/owner-name"] === "pool"
      );
    });
    await w.client.delete(Cluster, key("demo"));
    await gone(w, MachinePool, "pool");
    await gone(w, Cluster, "demo");
  },
);
