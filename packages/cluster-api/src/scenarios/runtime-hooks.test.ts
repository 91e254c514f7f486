import { afterEach, expect, test, vi } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import {
  allKinds,
  Cluster,
  conversionsOf,
  ExtensionConfig,
  HostedControlPlane,
  MachineDeployment,
  OpenStackCluster,
  toCustomResourceDefinition,
} from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import type { ExtensionClient } from "../runtime/client.ts";
import { hooksApi } from "../runtime/hooks.ts";
import { classTemplates, clusterClass, topologyCluster } from "../testing/class-manifests.ts";
import { key, namespace, World } from "../testing/world.ts";

vi.setConfig({ testTimeout: 300_000 });

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const hooks = [
  "BeforeClusterCreate",
  "AfterControlPlaneInitialized",
  "BeforeClusterUpgrade",
  "AfterControlPlaneUpgrade",
  "AfterClusterUpgrade",
  "BeforeClusterDelete",
];

/** An extension with a handler for every hook; those in `held` ask for time. */
class Extension implements ExtensionClient {
  readonly held = new Set<string>();
  readonly failing = new Set<string>();
  readonly asked: { readonly hook: string; readonly body: Record<string, unknown> }[] = [];

  call({ path, body }: { readonly path: string; readonly body: object }): Promise<unknown> {
    if (path === "discovery") {
      const handlers = hooks.map((hook) => ({
        name: hook.toLowerCase(),
        requestHook: { apiVersion: hooksApi, hook },
        timeoutSeconds: 1,
      }));
      return Promise.resolve({ status: "Success", handlers });
    }
    const hook = hooks.find((name) => path === `${name.toLowerCase()}/${name.toLowerCase()}`) ?? path;
    this.asked.push({ hook, body: body as Record<string, unknown> });
    if (this.failing.has(hook)) return Promise.reject(new CausewayError("RUNTIME_EXTENSION_FAILED", "no route"));
    return Promise.resolve({ status: "Success", message: "not yet", retryAfterSeconds: this.held.has(hook) ? 1 : 0 });
  }

  times(hook: string): number {
    return this.asked.filter((one) => one.hook === hook).length;
  }
}

async function started(extension: Extension): Promise<World> {
  const crds = allKinds.map((kind) => toCustomResourceDefinition(kind));
  const w = await World.start(await startApiServer({ crds, conversions: conversionsOf(allKinds) }));
  world = w;
  w.run(allKinds, { extensions: extension });
  await w.client.create(ExtensionConfig, {
    apiVersion: "runtime.cluster.x-k8s.io/v1beta2",
    kind: "ExtensionConfig",
    metadata: { name: "ext" },
    spec: { clientConfig: { url: "https://ext.example.com" }, settings: { a: "b" } },
  });
  await w.until("discovery", async () => {
    const { status } = await w.client.get(ExtensionConfig, { namespace: "", name: "ext" });
    return status?.handlers?.length === hooks.length && status;
  });
  await w.apply(...classTemplates(), clusterClass(), topologyCluster());
  return w;
}

const condition = async (w: World, type: string) =>
  (await w.client.get(Cluster, key("demo"))).status?.conditions?.find((one) => one.type === type);
const reason = (w: World, type: string, wanted: string, message = "") =>
  w.until(`${type} ${wanted} ${message}`, async () => {
    const found = await condition(w, type);
    return found?.reason === wanted && (found.message ?? "").includes(message) ? found : undefined;
  });

test("hooks hold a cluster back at its creation, upgrade and deletion, each until its handlers agree", async () => {
  const extension = new Extension();
  extension.held.add("BeforeClusterCreate");
  const w = await started(extension);
  await reason(w, "TopologyReconciled", "ClusterCreating", "BeforeClusterCreate: beforeclustercreate.ext: not yet");
  expect((await w.client.list(OpenStackCluster, { namespace })).items).toEqual([]);
  expect(extension.asked[0]?.body).toMatchObject({
    apiVersion: hooksApi,
    kind: "BeforeClusterCreateRequest",
    settings: { a: "b" },
    cluster: { apiVersion: "cluster.x-k8s.io/v1beta1", kind: "Cluster", metadata: { name: "demo" } },
  });
  extension.held.clear();
  await w.running(1);
  await reason(w, "TopologyReconciled", "ReconcileSucceeded");
  await w.until("AfterControlPlaneInitialized", () =>
    Promise.resolve(extension.times("AfterControlPlaneInitialized") > 0),
  );

  // An upgrade waits before it begins, and before the workers follow.
  extension.held.add("BeforeClusterUpgrade").add("AfterControlPlaneUpgrade");
  await w.client.patch(Cluster, key("demo"), { type: "merge", body: { spec: { topology: { version: "v1.34.2" } } } });
  await reason(
    w,
    "TopologyReconciled",
    "LifecycleHookBlocking",
    "BeforeClusterUpgrade: beforeclusterupgrade.ext: not yet",
  );
  const control = async () => (await w.client.list(HostedControlPlane, { namespace })).items[0];
  expect((await control())?.spec.version).toBe("v1.34.0");
  expect(extension.asked.at(-1)?.body).toMatchObject({
    fromKubernetesVersion: "v1.34.0",
    toKubernetesVersion: "v1.34.2",
  });
  extension.held.delete("BeforeClusterUpgrade");
  await w.until("the control plane's version", async () => (await control())?.spec.version === "v1.34.2");
  await w.client.patch(
    HostedControlPlane,
    key((await control())?.metadata.name ?? ""),
    { type: "merge", body: { status: { version: "v1.34.2" } } },
    { subresource: "status" },
  );
  await reason(w, "TopologyReconciled", "LifecycleHookBlocking", "AfterControlPlaneUpgrade");
  const workers = async () => (await w.client.list(MachineDeployment, { namespace })).items[0];
  expect((await workers())?.spec.template.spec.version).toBe("v1.34.0");
  expect(extension.times("AfterClusterUpgrade")).toBe(0);
  extension.held.clear();
  await w.until("the workers of the new version", async () => {
    const machines = await w.machines();
    for (const one of machines) if (one.spec.providerID) await w.join(one.metadata.name).catch(() => {});
    return machines.length === 1 && machines[0]?.spec.version === "v1.34.2";
  });
  await w.until("AfterClusterUpgrade", () => Promise.resolve(extension.times("AfterClusterUpgrade") > 0));
  await w.until("no hook that is pending", async () => {
    const { metadata } = await w.client.get(Cluster, key("demo"));
    return metadata.annotations?.["runtime.cluster.x-k8s.io/pending-hooks"] === undefined;
  });
  expect([extension.times("AfterControlPlaneInitialized"), extension.times("AfterClusterUpgrade")]).toEqual([1, 1]);

  // A deletion waits, and an extension that does not respond is a reason to wait.
  extension.failing.add("BeforeClusterDelete");
  await w.client.delete(Cluster, key("demo"));
  await reason(w, "Deleting", "WaitingForBeforeDeleteHook");
  await w.until("a failed call", () => Promise.resolve(extension.times("BeforeClusterDelete") > 0));
  expect((await workers())?.metadata.deletionTimestamp).toBeUndefined();
  extension.failing.clear();
  await w.until("no Cluster", async () => (await w.client.find(Cluster, key("demo"))) === undefined);
});
