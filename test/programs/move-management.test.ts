/** `causeway move`: a cluster goes from our API server to a real kube-apiserver and back, with all that is its own. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allKinds, Cluster, Machine, OpenStackCluster, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { moveClusters } from "@causeway/cluster-api";
import { systemClock } from "@causeway/foundation";
import {
  createClient,
  CustomResourceDefinition,
  loadKubeconfig,
  Namespace,
  ownerReference,
  Secret,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startKubeApiserver } from "../contracts/kubernetes/kube-apiserver.ts";
import { programs } from "./programs.ts";
import { launch, type RunningProgram } from "./run.ts";
import { until } from "./runtime-world.ts";
import { administrator } from "./servers.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const { kubernetes } = programs();
const binaries = "reason" in kubernetes ? "" : kubernetes.dir;
const isBuilt = existsSync(join(binaries, "kube-controller-manager"));
const why = "reason" in kubernetes ? kubernetes.reason : isBuilt ? undefined : "kube-controller-manager is not built";
const { signal } = new AbortController();
const namespace = "team";
const crds = [...new Map(allKinds.map((kind) => [kind.kind, kind])).values()].map(toCustomResourceDefinition);
const moved = [Cluster, OpenStackCluster, Machine, Secret] as readonly ResourceType<KubeObject>[];

/** A Cluster with a status, its infrastructure and a Machine, and Secrets of each. */
async function seed(client: KubernetesClient): Promise<void> {
  await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const labels = { "cluster.x-k8s.io/cluster-name": "web" };
  const cluster = await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: {
      namespace,
      name: "web",
      labels: { team: "a" },
      annotations: { note: "kept" },
      finalizers: ["cluster.cluster.x-k8s.io"],
    },
    spec: { controlPlaneEndpoint: { host: "192.0.2.1", port: 6443 } },
  });
  const status = { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } };
  const key = { namespace, name: "web" };
  await client.patch(Cluster, key, { type: "merge", body: { status } }, { subresource: "status" });
  const owned = (owner: KubeObject) => ({ ownerReferences: [ownerReference(owner, { controller: true })] });
  await client.create(OpenStackCluster, {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "OpenStackCluster",
    metadata: { ...key, ...owned(cluster) },
    spec: { identityRef: { type: "Secret", name: "web-cloud", cloudName: "prod" } },
  } as OpenStackCluster);
  const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackMachine", name: "web-1" };
  const machine = await client.create(Machine, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: { namespace, name: "web-1", labels, ...owned(cluster) },
    spec: { clusterName: "web", bootstrap: { dataSecretName: "web-1" }, infrastructureRef },
  } as Machine);
  const secret = (name: string, metadata: object, type = "Opaque") =>
    client.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace, name, ...metadata },
      type,
      data: { value: "c2VjcmV0" },
    });
  await secret("web-1", owned(machine));
  await secret("web-ca", { labels }, "cluster.x-k8s.io/secret");
  await secret("web-cloud", {});
}

/** All of it, without what differs from server to server: names of owners in place of their uids. */
async function shape(client: KubernetesClient): Promise<unknown[]> {
  const all = await Promise.all(moved.map(async (type) => (await client.list(type, { namespace })).items));
  const uids = new Map(all.flat().map(({ kind, metadata }) => [metadata.uid, `${kind} ${metadata.name}`]));
  return all.flat().map((object) => {
    const { name, labels, annotations, finalizers, ownerReferences } = object.metadata;
    const owners = ownerReferences?.map(({ uid }) => uids.get(uid));
    return { ...object, metadata: { name, labels, annotations, finalizers, owners } };
  });
}

describe.skipIf(why !== undefined)(`causeway move${why === undefined ? "" : ` (${why})`}`, () => {
  let ours: ApiServer;
  let real: Awaited<ReturnType<typeof startKubeApiserver>>;
  let dir: string | undefined;
  let collector: RunningProgram | undefined;
  let one: KubernetesClient;
  let two: KubernetesClient;
  beforeAll(async () => {
    ours = await startApiServer({ crds });
    one = createClient(loadKubeconfig({ text: await ours.management.kubeconfig() }));
    real = await startKubeApiserver({ without: ["ServiceAccount"] });
    dir = mkdtempSync(join(tmpdir(), "move-management-"));
    writeFileSync(join(dir, "kubeconfig"), await administrator(real), { mode: 0o600 });
    two = createClient(loadKubeconfig({ path: join(dir, "kubeconfig") }));
    // A move leaves what it deletes to the garbage collector, which every management cluster has.
    const flags = ["--controllers=garbage-collector-controller", "--leader-elect=false", "--secure-port=0"];
    collector = launch(join(binaries, "kube-controller-manager"), [
      `--kubeconfig=${join(dir, "kubeconfig")}`,
      ...flags,
    ]);
    for (const crd of crds) await two.create(CustomResourceDefinition, crd);
    for (const type of moved) await until(`kind ${type.kind}`, () => two.list(type, { namespace }));
    await until("kube-system", () => two.find(Namespace, { namespace: "", name: "kube-system" }));
  });
  afterAll(async () => {
    await Promise.all([one?.close(), two?.close()]);
    collector?.child.kill("SIGKILL");
    await Promise.all([ours?.close(), real?.close(), collector?.ended]);
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
  });

  test(
    "carries a cluster to a real kube-apiserver and back, equal, and leaves nothing behind",
    { retry: 0 },
    async () => {
      await seed(one);
      const before = await shape(one);
      const moving = { namespace, clock: systemClock, report: () => {} };
      expect(await moveClusters({ ...moving, from: one, to: two }, signal)).toMatchObject({ clusters: ["web"] });
      expect(await shape(two)).toEqual(before);
      expect(await shape(one)).toEqual([]);
      expect(await moveClusters({ ...moving, from: two, to: one }, signal)).toMatchObject({ clusters: ["web"] });
      expect(await shape(one)).toEqual(before);
      expect(await shape(two)).toEqual([]);
    },
  );
});
