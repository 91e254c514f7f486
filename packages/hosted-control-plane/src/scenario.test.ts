import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allKinds, Cluster, HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  ConfigMap,
  createClient,
  createEventRecorder,
  createInformers,
  getCondition,
  isNotFound,
  loadKubeconfig,
  Namespace,
  ownerReference,
  removeFinalizer,
  Secret,
  ServiceAccount,
  type ClusterConfig,
  type Condition,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { afterEach, expect, test, vi } from "vitest";
import { createHostedControlPlane } from "./controlplane/controller.ts";
import { createEmbeddedRuntime } from "./embedded.ts";

// It runs processes.
vi.setConfig({ testTimeout: 300_000 });

interface World {
  readonly server: ApiServer;
  readonly client: KubernetesClient;
  /** Writes to the runtime that took place. */
  readonly ensured: string[];
  stop(): Promise<void>;
}

const dirs: string[] = [];
const worlds: World[] = [];

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.stop();
  for (const dir of dirs.splice(0)) await rm(dir, { recursive: true, force: true });
});

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "hosted-"));
  dirs.push(dir);
  return dir;
}

/** A management cluster with the controller on it. */
async function world(dir?: string): Promise<World> {
  const crds = allKinds.map(toCustomResourceDefinition);
  const server = await startApiServer({ crds, ...(dir === undefined ? {} : { dir }) });
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  const informers = createInformers(client, { clock: systemClock, log: silentLog });
  const embedded = createEmbeddedRuntime({ apiServer: server });
  const ensured: string[] = [];
  const runtime: typeof embedded = {
    ...embedded,
    ensure(spec, signal) {
      ensured.push(spec.id);
      return embedded.ensure(spec, signal);
    },
  };
  const events = createEventRecorder(client, { component: "test", clock: systemClock });
  const advertise = async () => "127.0.0.1";
  const controller = createHostedControlPlane({
    informers,
    runtime,
    advertise,
    events,
    clock: systemClock,
    log: silentLog,
  });
  const stopping = new AbortController();
  const running = [informers.run(stopping.signal), controller.run(stopping.signal)];
  let stopped: Promise<void> | undefined;
  const end = async () => {
    stopping.abort(new Error("stopped"));
    await Promise.allSettled(running);
    await client.close();
    await server.close();
  };
  const made = { server, client, ensured, stop: () => (stopped ??= end()) };
  worlds.push(made);
  return made;
}

async function eventually<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
  for (let i = 0; i < 200; i++) {
    const found = await find();
    if (found !== undefined) return found;
    await systemClock.sleep(25);
  }
  throw new Error(`not in five seconds: ${what}`);
}

async function make(
  { client }: World,
  name: string,
  { namespace = "default", ...spec }: Partial<HostedControlPlane["spec"]> & { namespace?: string } = {},
): Promise<void> {
  const metadata = { name, namespace };
  const cluster = await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata,
    spec: {
      clusterNetwork: { services: { cidrBlocks: ["10.97.0.0/16"] } },
      controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name },
    },
  });
  const labels = { "cluster.x-k8s.io/cluster-name": name };
  await client.create(HostedControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata: { ...metadata, labels, ownerReferences: [ownerReference(cluster, { controller: true })] },
    spec: { version: "v1.34.0", ...spec },
  });
}

const key = (name: string, namespace = "default") => ({ namespace, name });
const find = ({ client }: World, name: string, namespace?: string) =>
  client.find(HostedControlPlane, key(name, namespace));

function condition(object: HostedControlPlane | undefined, type: string): Condition | undefined {
  return getCondition((object?.status?.conditions ?? []) as Condition[], type);
}

const available = (at: World, name: string, namespace?: string) =>
  eventually(`${name} available`, async () => {
    const object = await find(at, name, namespace);
    return condition(object, "Available")?.status === "True" ? object : undefined;
  });

/** How the workload cluster is reached, from the Secret that the contract names. */
async function access({ client }: World, name: string, namespace?: string): Promise<ClusterConfig> {
  const secret = await client.get(Secret, key(`${name}-kubeconfig`, namespace));
  return loadKubeconfig({ text: Buffer.from(secret.data?.["value"] ?? "", "base64").toString("utf8") });
}

async function workload(at: World, name: string): Promise<KubernetesClient> {
  return createClient(await access(at, name));
}

const map = (name: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name },
});

test("a control plane starts, publishes the contract's Secrets, and then writes nothing", async () => {
  const at = await world();
  await make(at, "one");
  const { status, metadata } = await available(at, "one");
  expect(status).toMatchObject({ version: "v1.34.0", initialization: { controlPlaneInitialized: true } });
  const secrets = (await at.client.list(Secret, { labelSelector: "cluster.x-k8s.io/cluster-name=one" })).items;
  expect(secrets.map((s) => `${s.metadata.name} ${s.type}`).sort()).toEqual(
    ["ca", "kubeconfig", "proxy", "sa"].map((purpose) => `one-${purpose} cluster.x-k8s.io/secret`),
  );
  const inside = await workload(at, "one");
  expect(await inside.request("GET", "/version")).toMatchObject({ gitVersion: "v1.34.0" });
  await inside.close();
  await at.client.patch(HostedControlPlane, key("one"), {
    type: "merge",
    body: { metadata: { labels: { touched: "1" } } },
  });
  await systemClock.sleep(200);
  expect(at.ensured).toEqual(["default.one"]);
  const after = await find(at, "one");
  expect(after?.status).toEqual(status);
  expect(after?.metadata.generation).toBe(metadata.generation);
});

test("after a restart it has the same port, roots, kubeconfig and data", async () => {
  const dir = await folder();
  const first = await world(dir);
  await make(first, "one");
  const before = await available(first, "one");
  const inside = await workload(first, "one");
  await inside.create(ConfigMap, map("kept"));
  await inside.close();
  const kubeconfig = await first.client.get(Secret, key("one-kubeconfig"));
  await first.stop();
  const second = await world(dir);
  await eventually("it runs again", async () => (second.ensured.length > 0 ? true : undefined));
  expect((await available(second, "one")).status?.endpoint).toEqual(before.status?.endpoint);
  expect((await second.client.get(Secret, key("one-kubeconfig"))).data).toEqual(kubeconfig.data);
  const again = await workload(second, "one");
  await eventually("its data", () => again.find(ConfigMap, key("kept")).catch(() => undefined));
  await again.close();
});

test("two control planes are isolated from each other", async () => {
  const at = await world();
  await make(at, "one");
  await make(at, "two");
  await Promise.all([available(at, "one"), available(at, "two")]);
  const [one, two] = await Promise.all([workload(at, "one"), workload(at, "two")]);
  await one.create(ConfigMap, map("mine"));
  expect(await two.find(ConfigMap, key("mine"))).toBeUndefined();
  const [secretOne, secretTwo] = await Promise.all(
    ["one-ca", "two-ca"].map((name) => at.client.get(Secret, key(name))),
  );
  expect(secretOne?.data).not.toEqual(secretTwo?.data);
  await Promise.all([one.close(), two.close()]);
});

test("two control planes with one name in two namespaces refuse each other's certificates and tokens", async () => {
  const at = await world();
  const clients: KubernetesClient[] = [];
  const clientOf = (of: ClusterConfig): KubernetesClient => {
    clients.push(createClient(of));
    return clients.at(-1) as KubernetesClient;
  };
  for (const namespace of ["red", "blue"]) {
    await at.client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await make(at, "web", { namespace });
  }
  await Promise.all(["red", "blue"].map((namespace) => available(at, "web", namespace)));
  const [red, blue] = [await access(at, "web", "red"), await access(at, "web", "blue")];
  await clientOf(red).create(ConfigMap, map("of-red"));
  expect(await clientOf(blue).find(ConfigMap, key("of-red"))).toBeUndefined();
  await clientOf(red).create(ServiceAccount, { apiVersion: "v1", kind: "ServiceAccount", metadata: key("robot") });
  const path = "/api/v1/namespaces/default/serviceaccounts/robot/token";
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  const { status } = (await clientOf(red).request("POST", path, { body })) as { status: { token: string } };
  const unauthorized = { code: "KUBERNETES_UNAUTHORIZED" };
  const reached = ({ server, ca = "" }: ClusterConfig): ClusterConfig => ({ server, ca });
  const byCertificate = clientOf({ ...red, ...reached(blue) });
  await expect(byCertificate.list(Namespace)).rejects.toMatchObject(unauthorized);
  const byToken = clientOf({ ...reached(blue), token: status.token });
  await expect(byToken.list(Namespace)).rejects.toMatchObject(unauthorized);
  // It is known where it was issued: only its rights are missing.
  const atHome = clientOf({ ...reached(red), token: status.token });
  await expect(atHome.list(Namespace)).rejects.toMatchObject({ code: "KUBERNETES_FORBIDDEN" });
  await Promise.all(clients.map((each) => each.close()));
});

test("a control plane whose webhooks and aggregated APIs lead nowhere starts again, and its user can remove them", async () => {
  const dir = await folder();
  const first = await world(dir);
  await make(first, "one");
  await available(first, "one");
  const before = await workload(first, "one");
  const apiService = {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: "v1.metrics.example.com" },
    spec: {
      group: "metrics.example.com",
      version: "v1",
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { namespace: "default", name: "absent" },
    },
  };
  await before.request("POST", "/apis/apiregistration.k8s.io/v1/apiservices", { body: apiService });
  const rules = [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"], scope: "*" }];
  const webhook = {
    name: "broken.example.com",
    rules,
    clientConfig: { url: "https://127.0.0.1:1/", caBundle: "" },
    failurePolicy: "Fail",
    timeoutSeconds: 1,
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  };
  const webhooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  const configuration = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "broken" },
    webhooks: [webhook],
  };
  await before.request("POST", webhooks, { body: configuration });
  await before.close();
  await first.stop();

  const second = await world(dir);
  await eventually("it runs again", async () => (second.ensured.length > 0 ? true : undefined));
  await available(second, "one");
  const after = await workload(second, "one");
  await eventually("its API", () => after.request("GET", "/readyz").catch(() => undefined));
  await expect(after.create(ConfigMap, map("refused"))).rejects.toThrow(/failed calling webhook "broken.example.com"/);
  await after.request("DELETE", `${webhooks}/broken`);
  await after.create(ConfigMap, map("accepted"));
  await after.close();
});

test("deletion waits for the finalizers of others, then drops the data", async () => {
  const at = await world();
  await make(at, "one");
  const object = await available(at, "one");
  const finalizers = [...(object.metadata.finalizers ?? []), "others.example/busy"];
  await at.client.patch(HostedControlPlane, key("one"), { type: "merge", body: { metadata: { finalizers } } });
  const inside = await workload(at, "one");
  await inside.create(ConfigMap, map("old"));
  await at.client.delete(HostedControlPlane, key("one"));
  const waiting = await eventually("it says whom it waits for", async () => {
    const current = await find(at, "one");
    return condition(current, "Deleting")?.reason === "WaitingForFinalizers" ? current : undefined;
  });
  expect(condition(waiting, "Deleting")?.message).toContain("others.example/busy");
  expect(await inside.find(ConfigMap, key("old"))).toBeDefined();
  await inside.close();
  await removeFinalizer(at.client, HostedControlPlane, waiting, { finalizer: "others.example/busy" });
  await eventually("gone", async () => ((await find(at, "one")) ? undefined : true));
  expect(at.server.cluster("default.one")).toBeUndefined();
  await at.client.delete(Cluster, key("one"));
  await eventually("cluster gone", async () => ((await at.client.find(Cluster, key("one"))) ? undefined : true));
  await eventually("secrets gone", async () => ((await at.client.find(Secret, key("one-ca"))) ? undefined : true));
  await make(at, "one");
  await available(at, "one");
  const recreated = await workload(at, "one");
  expect(await recreated.find(ConfigMap, key("old"))).toBeUndefined();
  await recreated.close();
});

test("a port in use is reported, with what to do, and retried", async () => {
  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(0, "127.0.0.1", resolve));
  const { port } = blocker.address() as AddressInfo;
  const at = await world();
  await make(at, "one", { endpoint: { host: "127.0.0.1", port } });
  const failed = await eventually("failure", async () => {
    const found = condition(await find(at, "one"), "Available");
    return found?.reason === "Failed" ? found : undefined;
  });
  expect(failed.message).toMatch(new RegExp(`port ${port} of 127\\.0\\.0\\.1 is in use.*APISERVER_PORT_TAKEN`, "s"));
  await new Promise((resolve) => blocker.close(resolve));
  expect((await available(at, "one")).status?.endpoint).toEqual({ host: "127.0.0.1", port });
});

test("a root that a user provides is used; an unusable one is reported", async () => {
  const at = await world();
  await at.client.create(Secret, { apiVersion: "v1", kind: "Secret", metadata: key("one-ca"), data: {} });
  await make(at, "one");
  const failed = await eventually("failure", async () => {
    const found = condition(await find(at, "one"), "Available");
    return found?.reason === "Failed" ? found : undefined;
  });
  expect(failed.message).toContain("lacks label cluster.x-k8s.io/cluster-name=one, key tls.crt, key tls.key");
  await at.client.delete(Secret, key("one-ca"));
  await available(at, "one");
});

test("roots that are lost after the start are reported, and never recreated", async () => {
  const at = await world();
  await make(at, "one");
  await available(at, "one");
  await at.client.delete(Secret, key("one-sa"));
  const lost = await eventually("loss", async () => {
    const found = condition(await find(at, "one"), "CertificatesAvailable");
    return found?.reason === "SecretsMissing" ? found : undefined;
  });
  expect(lost.message).toContain("sa");
  const gone = await at.client.get(Secret, key("one-sa")).catch((error: unknown) => isNotFound(error));
  expect(gone).toBe(true);
});
