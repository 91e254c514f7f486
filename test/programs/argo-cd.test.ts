/**
 * Add-ons that an AddonSet hands to Argo CD: the application controller and the repository server of a release, in a
 * management cluster on the embedded API server, apply manifests of a Git repository to a tenant on ours and on a real
 * kube-apiserver.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addonKinds, AddonSet, allKinds, Cluster, toCustomResourceDefinition, type AddonSetSpec } from "@causeway/api";
import { createAddons } from "@causeway/addons";
import { startApiServer } from "@causeway/apiserver";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  ConfigMap,
  createClient,
  createEventRecorder,
  createInformers,
  createRemoteClusters,
  Deployment,
  loadKubeconfig,
  Secret,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createRepository, type Repository } from "./argo/git.ts";
import { startArgo } from "./argo/install.ts";
import { programs } from "./programs.ts";
import { until } from "./runtime-world.ts";
import { administrator, servers, startServer } from "./servers.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const { argo } = programs();
const key = (name: string) => ({ namespace: "default", name });

function deployment(replicas: number): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: example.com/web:1 }] }
`;
}

const configMap = (name: string, text: string) =>
  `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}, data: {text: ${text}}}\n`;
const Application = {
  group: "argoproj.io",
  version: "v1alpha1",
  kind: "Application",
  plural: "applications",
  namespaced: true,
};

for (const { name, missing } of servers()) {
  const why = "reason" in argo ? argo.reason : missing;
  describe.skipIf(why !== undefined)(`a tenant on ${name}${why === undefined ? "" : ` (${why})`}`, () => {
    const dir = mkdtempSync(join(tmpdir(), "argo-cd-"));
    const closers: (() => Promise<unknown>)[] = [];
    let [client, tenant] = [{} as KubernetesClient, {} as KubernetesClient];
    let repository = {} as Repository;
    let output = (): string => "";

    beforeAll(async () => {
      const server = await startApiServer({ crds: [...allKinds, ...addonKinds].map(toCustomResourceDefinition) });
      closers.push(() => server.close());
      const kubeconfig = await server.management.kubeconfig();
      client = createClient(loadKubeconfig({ text: kubeconfig }));
      const target = await startServer(name);
      closers.push(() => target.close());
      const admin = await administrator(target.target);
      tenant = createClient(loadKubeconfig({ text: admin }));
      closers.push(
        () => client.close(),
        () => tenant.close(),
      );
      repository = await createRepository(join(dir, "repository"));
      await repository.commit({
        "web/web.yaml": deployment(2),
        "late/late.yaml": configMap("late", "first"),
        "late/more.yaml": configMap("more", "first"),
      });
      mkdirSync(join(dir, "argo"));
      const programsOf = "dir" in argo ? argo.dir : "";
      const options = { programs: programsOf, dir: join(dir, "argo"), client, kubeconfig, namespace: "argocd" };
      const running = await startArgo(options);
      closers.push(() => running.stop());
      output = () => running.output();
      await createTenant(client, admin);
      closers.push(startController(client));
    });
    afterAll(async () => {
      for (const close of closers.toReversed()) await close();
      rmSync(dir, { recursive: true, force: true });
    });

    const declare = async (addons: AddonSetSpec["addons"], prune = false): Promise<void> => {
      const object = {
        apiVersion: "addons.causeway.dev/v1alpha1",
        kind: "AddonSet",
        metadata: key("system"),
        spec: { clusterName: "tenant", argoCD: { namespace: "argocd", prune }, addons, deletionPolicy: "Delete" },
      };
      await client.apply(AddonSet, object, { fieldManager: "test" });
    };
    const from = (path: string, wave = 0) => ({ name: path, wave, application: { repoURL: repository.url, path } });
    const addon = async (of: string) =>
      (await client.get(AddonSet, key("system"))).status?.addons?.find((each) => each.name === of);
    /** With what Argo CD printed, if it does not come. */
    const eventually = async <T>(what: string, check: () => Promise<T | undefined>): Promise<T> => {
      try {
        return await until(what, check, 1_200);
      } catch (error) {
        const set = await client.find(AddonSet, key("system"));
        throw new Error(`${String(error)}\n${JSON.stringify(set?.status)}\n${output()}`, { cause: error });
      }
    };
    const inState = (of: string, state: string) =>
      eventually(`${of} ${state}`, async () => {
        const found = await addon(of);
        return found?.state === state ? found : undefined;
      });
    /** What its pods' controller would report. */
    const reportAvailable = async (): Promise<void> => {
      const { metadata, spec } = await tenant.get(Deployment, key("web"));
      const { replicas = 1 } = spec;
      const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
      const body = { status: { ...counts, observedGeneration: metadata.generation } };
      await tenant.patch(Deployment, key("web"), { type: "merge", body }, { subresource: "status" });
    };

    test("gets a Deployment from Argo CD, and what Argo CD reports is in the AddonSet's status", async () => {
      await declare([from("web")]);
      await eventually("the Deployment", () => tenant.find(Deployment, key("web")));
      const ill = await inState("web", "Unhealthy");
      expect(ill.message).toMatch(/^Argo CD: health is Progressing/);
      await reportAvailable();
      await inState("web", "Applied");
    });

    test("gets a later wave after the earlier one works", async () => {
      const { replicas } = (await tenant.get(Deployment, key("web"))).spec;
      expect(replicas).toBe(2);
      await declare([from("web"), from("late", 1)]);
      await eventually("the later wave", () => tenant.find(ConfigMap, key("late")));
      await inState("late", "Applied");
    });

    test("is kept as declared by Argo CD's self-heal", async () => {
      await tenant.patch(Deployment, key("web"), { type: "merge", body: { spec: { replicas: 5 } } });
      await eventually("reverted", async () =>
        (await tenant.get(Deployment, key("web"))).spec.replicas === 2 ? true : undefined,
      );
    });

    test("follows a commit, and keeps what the repository no longer has without pruning", async () => {
      await repository.commit({ "late/late.yaml": configMap("late", "second"), "late/more.yaml": undefined });
      const { items } = await client.list(Application, { namespace: "argocd" });
      for (const { metadata } of items) {
        const body = { metadata: { annotations: { "argocd.argoproj.io/refresh": "normal" } } };
        await client.patch(Application, { namespace: "argocd", name: metadata.name }, { type: "merge", body });
      }
      await eventually("the commit", async () =>
        (await tenant.get(ConfigMap, key("late"))).data?.["text"] === "second" ? true : undefined,
      );
      expect(await tenant.find(ConfigMap, key("more"))).toBeDefined();
    });

    test("shows the words of Argo CD where a path does not exist", async () => {
      await declare([from("web"), from("late", 1), from("absent", 2)]);
      // The later waves wait for what is ill.
      await reportAvailable();
      const failed = await inState("absent", "Failed");
      expect(failed.message).toMatch(/^Argo CD: ComparisonError: .*absent/s);
      await declare([from("web"), from("late", 1)]);
      await eventually("its Application to be gone", async () => {
        const { items } = await client.list(Application, { namespace: "argocd" });
        return items.length === 2 ? true : undefined;
      });
    });

    test("keeps the objects of an add-on that is removed without pruning", async () => {
      await declare([from("web")]);
      await eventually("one Application", async () =>
        (await client.list(Application, { namespace: "argocd" })).items.length === 1 ? true : undefined,
      );
      expect((await tenant.get(ConfigMap, key("late"))).data).toEqual({ text: "second" });
    });

    test("loses the objects with the set, and Argo CD its Secret last", async () => {
      await client.delete(AddonSet, key("system"));
      await eventually("the set to be gone", async () => {
        if (name === "kube-apiserver") await endForegroundDeletions(tenant);
        return (await client.find(AddonSet, key("system"))) === undefined ? true : undefined;
      });
      expect(await tenant.find(Deployment, key("web"))).toBeUndefined();
      expect((await client.list(Application, { namespace: "argocd" })).items).toEqual([]);
      const labelSelector = "argocd.argoproj.io/secret-type=cluster";
      expect((await client.list(Secret, { namespace: "argocd", labelSelector })).items).toEqual([]);
    });
  });
}

/** What the garbage collector does, which a kube-apiserver alone lacks: no object here has dependents. */
async function endForegroundDeletions(tenant: KubernetesClient): Promise<void> {
  const found = await tenant.find(Deployment, key("web"));
  if (found?.metadata.deletionTimestamp === undefined) return;
  await tenant.patch(Deployment, key("web"), { type: "merge", body: { metadata: { finalizers: null } } });
}

async function createTenant(client: KubernetesClient, kubeconfig: string): Promise<void> {
  await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: key("tenant"),
    spec: {
      clusterNetwork: { services: { cidrBlocks: ["10.96.0.0/12"] }, pods: { cidrBlocks: ["10.244.0.0/16"] } },
      controlPlaneEndpoint: { host: "192.0.2.1", port: 6443 },
      topology: { classRef: { name: "none" }, version: "v1.34.4" },
    },
  });
  await client.create(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...key("tenant-kubeconfig"), labels: { "cluster.x-k8s.io/cluster-name": "tenant" } },
    type: "cluster.x-k8s.io/secret",
    data: { value: Buffer.from(kubeconfig).toString("base64") },
  });
}

/** The controller of AddonSets; what ends it. */
function startController(client: KubernetesClient): () => Promise<unknown> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const tools = { clock: systemClock, log: silentLog };
  const informers = createInformers(client, tools);
  const remoteClusters = createRemoteClusters({ informers, ...tools });
  const events = createEventRecorder(client, { component: "causeway-addons", clock: systemClock, signal });
  const controller = createAddons({ informers, remoteClusters, events, ...tools });
  const running = [informers.run(signal), remoteClusters.run(signal), controller.run(signal)];
  return () => {
    stopping.abort(new Error("stopped"));
    return Promise.allSettled(running);
  };
}
