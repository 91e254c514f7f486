/**
 * Two control planes of real programs behind one port: kubectl through `causeway run api-gateway` and
 * `causeway run api-proxy`, which are killed and stopped while watches run.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { allKinds, Cluster, HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { serviceRoutes } from "@causeway/api-gateway";
import { startApiServer, type StartClusterControllers } from "@causeway/apiserver";
import { silentLog, systemClock } from "@causeway/foundation";
import { createHostedControlPlane, createPodsRuntime, createRuntimes } from "@causeway/hosted-control-plane";
import {
  ConfigMap,
  createClient,
  createEventRecorder,
  createInformers,
  isTrue,
  loadKubeconfig,
  Namespace,
  Node,
  ownerReference,
  Pod,
  Secret,
  secretText,
  ServiceAccount,
  type Condition,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parse, stringify } from "yaml";
import { freePorts } from "../support/free-ports.ts";
import { missing, until, type Tenant } from "./api-gateway-stage.ts";
import { PlayedNode } from "./played-node.ts";
import { programs } from "./programs.ts";
import { execute, launch, type RunningProgram } from "./run.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 240_000 });
const VERSION = "v1.34.4";
const main = resolve(import.meta.dirname, "../../packages/causeway/src/main.ts");
const workloads = resolve(import.meta.dirname, "../../packages/causeway/src/workloads/start.ts");
const tools = { clock: systemClock, log: silentLog };
const key = (name: string) => ({ namespace: "default", name });
const closers: (() => unknown)[] = [];

let dir: string;
let management: KubernetesClient;
let ports: { gateway: number; proxy: number };
const tenants: Record<string, Tenant> = {};

async function startWorld(): Promise<void> {
  const { kubernetes } = programs();
  const built = "dir" in kubernetes ? kubernetes.dir : "";
  const { startWorkloads } = (await import(workloads)) as { startWorkloads: StartClusterControllers };
  const server = await startApiServer({
    crds: allKinds.map(toCustomResourceDefinition),
    dir: join(dir, "apiserver"),
    controllers: startWorkloads,
    management: { controllers: true },
  });
  closers.push(() => server.close());
  management = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  const client = management;
  closers.push(() => client.close());
  const informers = createInformers(client, tools);
  const node = new PlayedNode({ informers, client, dir: join(dir, "node"), programsOf: () => built });
  const gateway = {
    domain: "api.test",
    port: ports.gateway,
    address: "127.0.0.1",
    nodeAddress: "198.18.0.1",
    namespace: "causeway-system",
  };
  const settings = { owner: "suite", pool: { members: 1 }, gateway };
  const readSecret = (namespace: string, name: string) => client.find(Secret, { namespace, name });
  const pods = createPodsRuntime({ informers, settings, readSecret, ...tools });
  const runtime = createRuntimes({ runtimes: { Pods: pods }, default: "Pods" });
  const events = createEventRecorder(client, { component: "test", clock: systemClock });
  const controller = createHostedControlPlane({ informers, runtime, advertise: async () => "", events, ...tools });
  const stopping = new AbortController();
  const parts = [informers, node, pods, controller];
  const running = parts.map((part) => part.run(stopping.signal));
  closers.push(async () => {
    stopping.abort(new Error("stopped"));
    await Promise.allSettled(running);
  });
}

async function create(name: string): Promise<void> {
  const cluster = await management.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: key(name),
    spec: {
      clusterNetwork: { services: { cidrBlocks: ["10.97.0.0/16"] } },
      controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name },
    },
  });
  const metadata = {
    labels: { "cluster.x-k8s.io/cluster-name": name },
    ownerReferences: [ownerReference(cluster, { controller: true })],
  };
  await management.create(HostedControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata: { ...key(name), ...metadata },
    spec: { version: VERSION, runtime: "Pods", pods: { exposure: "Gateway" } },
  });
  const object = await until(`${name} available`, async () => {
    const found = await management.get(HostedControlPlane, key(name));
    return isTrue((found.status?.conditions ?? []) as Condition[], "Available") ? found : undefined;
  });
  const { items } = await management.list(Namespace);
  const id = `default.${name}`;
  const namespace =
    items.find(({ metadata: own }) => own.annotations?.["controlplane.causeway.dev/id"] === id)?.metadata.name ?? "";
  const labelSelector = "app.kubernetes.io/component=kube-apiserver";
  const [pod] = (await management.list(Pod, { namespace, labelSelector })).items;
  tenants[name] = {
    kubeconfig: secretText(await management.get(Secret, key(`${name}-kubeconfig`)), "value") ?? "",
    serverName: object.status?.endpoint?.host ?? "",
    namespace,
    address: pod?.status?.podIP ?? "",
  };
}

const tenant = (name: string): Tenant => tenants[name] as Tenant;

/** A kubeconfig file of a tenant with another server and server name; undefined: none. */
function fileOf(name: string, changes: { server?: string; "tls-server-name"?: string | undefined } = {}): string {
  const config = parse(tenant(name).kubeconfig) as { clusters: { cluster: Record<string, unknown> }[] };
  const [first] = config.clusters;
  if (first) first.cluster = { ...first.cluster, ...changes };
  const file = join(
    dir,
    `${name}-${Object.values(changes)
      .join("-")
      .replaceAll(/[^a-z0-9]/g, "-")}.kubeconfig`,
  );
  writeFileSync(file, stringify(config), { mode: 0o600 });
  return file;
}

const kubectl = (): string => {
  const { kubernetes } = programs();
  return "dir" in kubernetes ? join(kubernetes.dir, "kubectl") : "";
};

async function run(file: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await execute(kubectl(), ["--kubeconfig", file, ...args]);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

function command(...args: string[]): RunningProgram {
  const running = launch(process.execPath, [main, "run", ...args]);
  closers.push(() => {
    running.child.kill("SIGKILL");
    return running.ended;
  });
  return running;
}

async function startGateway(): Promise<RunningProgram> {
  const running = command(
    "api-gateway",
    `--routes=${dir}/routes.yaml`,
    `--bind-address=127.0.0.1:${ports.gateway}`,
    "--shutdown-delay=1s",
    "--drain-timeout=1m",
  );
  await running.until(/the API gateway listens/);
  return running;
}

const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: key(name), data: {} });

/** A client that does not go through the gateway. */
function direct(name: string): KubernetesClient {
  const config = loadKubeconfig({ text: tenant(name).kubeconfig });
  const client = createClient({ ...config, server: `https://${tenant(name).address}:6443` });
  closers.push(() => client.close());
  return client;
}

const why = missing();
describe.skipIf(why !== undefined)(`control planes behind one port${why === undefined ? "" : ` (${why})`}`, () => {
  let gateway: RunningProgram;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "api-gateway-"));
    closers.push(() => rmSync(dir, { recursive: true, force: true }));
    const [first = 0, second = 0] = await freePorts(2);
    ports = { gateway: first, proxy: second };
    await startWorld();
    await Promise.all([create("one"), create("two")]);
    const routes = Object.values(tenants).map(({ serverName, namespace, address }) => ({
      serverName,
      tenant: namespace,
      host: address,
      port: 6443,
    }));
    // Addresses of Services lead nowhere on a played node; those of pods do.
    writeFileSync(join(dir, "routes.yaml"), stringify({ routes }));
    gateway = await startGateway();
  });
  afterAll(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  });

  test("their Services are the gateway's routes", async () => {
    const informers = createInformers(management, tools);
    const routes = serviceRoutes(informers, silentLog);
    const stopping = new AbortController();
    const running = informers.run(stopping.signal);
    await until("the routes", async () => (routes.ready ? true : undefined));
    for (const name of ["one", "two"])
      expect(routes.find(tenant(name).serverName)).toMatchObject({ tenant: tenant(name).namespace, port: 6443 });
    expect(tenant("one").serverName).not.toBe(tenant("two").serverName);
    expect(routes.find("kubernetes.default.svc")).toBeUndefined();
    stopping.abort();
    await running.catch(() => {});
    routes.close();
  });

  test("kubectl reaches each by its published kubeconfig, and none by the other's name", async () => {
    for (const name of ["one", "two"]) {
      expect(tenant(name).kubeconfig).toContain(`server: https://127.0.0.1:${ports.gateway}`);
      expect(tenant(name).kubeconfig).toContain(`tls-server-name: ${tenant(name).serverName}`);
      expect(await run(fileOf(name), "get", "--raw", "/version")).toContain('"minor": "34"');
      await run(fileOf(name), "create", "configmap", `of-${name}`);
    }
    expect(await run(fileOf("one"), "get", "configmaps", "-o", "name")).toContain("configmap/of-one");
    expect(await run(fileOf("one"), "get", "configmaps", "-o", "name")).not.toContain("of-two");
    const crossed = fileOf("one", { "tls-server-name": tenant("two").serverName });
    await expect(run(crossed, "get", "namespaces")).rejects.toThrow(/unknown authority/);
    const unnamed = fileOf("one", { "tls-server-name": undefined });
    await expect(run(unnamed, "get", "namespaces")).rejects.toThrow(/missing extension/);
  });

  test("clients of Service kubernetes reach their own through the proxy of a node", async () => {
    const server = `https://127.0.0.1:${ports.proxy}`;
    const proxy = command(
      "api-proxy",
      `--bind-address=127.0.0.1:${ports.proxy}`,
      `--gateways=127.0.0.1:${ports.gateway}`,
      `--server-name=${tenant("one").serverName}`,
    );
    await proxy.until(/the API proxy listens/);
    for (const name of [undefined, "kubernetes.default.svc"]) {
      const file = fileOf("one", { server, "tls-server-name": name });
      expect(await run(file, "get", "configmaps", "-o", "name")).toContain("configmap/of-one");
    }
    const foreign = fileOf("two", { server, "tls-server-name": undefined });
    await expect(run(foreign, "get", "namespaces")).rejects.toThrow(/unknown authority/);
  });

  test("Service kubernetes leads to the address that each node's proxy has", async () => {
    const endpoints = await run(fileOf("one"), "get", "endpoints", "kubernetes", "-o", "jsonpath={.subsets}");
    expect(endpoints).toContain('"ip":"198.18.0.1"');
    expect(endpoints).toContain('"port":6443');
  });

  test("watches continue after the gateway was killed, and miss nothing", async () => {
    const seen: Record<string, Set<string>> = { one: new Set(), two: new Set() };
    const stopping = new AbortController();
    const running = ["one", "two"].map((name) => {
      const client = createClient(loadKubeconfig({ text: tenant(name).kubeconfig }));
      closers.push(() => client.close());
      const informers = createInformers(client, tools);
      informers
        .for(ConfigMap, { namespace: "default" })
        .onChange(({ object }) => seen[name]?.add(object.metadata.name));
      return informers.run(stopping.signal);
    });
    await until(
      "the first events",
      async () => (seen["one"]?.has("of-one") && seen["two"]?.has("of-two")) || undefined,
    );
    gateway.child.kill("SIGKILL");
    await gateway.ended;
    for (const name of ["one", "two"]) await direct(name).create(ConfigMap, configMap("meanwhile"));
    gateway = await startGateway();
    for (const name of ["one", "two"]) {
      await until(`the event of ${name}`, async () => seen[name]?.has("meanwhile") || undefined);
      await direct(name).create(ConfigMap, configMap("after"));
      await until(`the next event of ${name}`, async () => seen[name]?.has("after") || undefined);
    }
    stopping.abort();
    await Promise.allSettled(running);
  });

  test("kubectl exec and port-forward go through it, whole in both directions, and outlive its drain", async () => {
    const { probe } = programs();
    // A second attempt has objects of its own.
    const name = `streams-${randomBytes(4).toString("hex")}`;
    if ("reason" in probe) throw new Error(probe.reason);
    const [port = 0, forwarded = 0] = await freePorts(2);
    const kubelet = launch(join(probe.dir, "streams"), [`127.0.0.1:${port}`]);
    closers.push(() => {
      kubelet.child.kill("SIGKILL");
      return kubelet.ended;
    });
    await kubelet.until(/serving streams/);
    const echo = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => socket.destroy());
      socket.pipe(socket);
    });
    await new Promise<void>((done) => echo.listen(0, "127.0.0.1", done));
    closers.push(() => echo.close());
    const target = (echo.address() as AddressInfo).port;
    const client = direct("one");
    const status = {
      addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    };
    await client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name }, spec: {} } as Node);
    await client.patch(Node, { namespace: "", name }, { type: "merge", body: { status } }, { subresource: "status" });
    const spec = { nodeName: name, containers: [{ name: "main", image: "none" }] };
    await until("its service account", () => client.find(ServiceAccount, key("default")));
    await client.create(Pod, { apiVersion: "v1", kind: "Pod", metadata: key(name), spec } as Pod);
    await client.patch(
      Pod,
      key(name),
      { type: "merge", body: { status: { phase: "Running" } } },
      { subresource: "status" },
    );

    const sent = randomBytes(3_000_000).toString("base64");
    const { code, stdout, stderr } = await execute(
      kubectl(),
      ["--kubeconfig", fileOf("one"), "exec", "-i", name, "--", "cat"],
      { input: sent },
    );
    expect([code, stderr, stdout === sent]).toEqual([0, "", true]);
    const failing = await execute(kubectl(), ["--kubeconfig", fileOf("one"), "exec", name, "--", "sh", "-c", "exit 7"]);
    expect(failing.code).toBe(7);
    const other = await execute(kubectl(), ["--kubeconfig", fileOf("two"), "exec", name, "--", "true"]);
    expect(other.stderr).toContain("not found");

    const forward = launch(kubectl(), [
      "--kubeconfig",
      fileOf("one"),
      "port-forward",
      `pod/${name}`,
      `${forwarded}:${target}`,
    ]);
    const open = launch(kubectl(), ["--kubeconfig", fileOf("one"), "exec", "-i", name, "--", "cat"]);
    closers.push(() => [forward, open].forEach(({ child }) => void child.kill("SIGKILL")));
    await forward.until(/Forwarding from/);
    const through = async (text: string): Promise<string> => {
      const socket = connect({ host: "127.0.0.1", port: forwarded, allowHalfOpen: true });
      socket.end(text);
      return (await socket.toArray()).join("");
    };
    const lines = "line\n".repeat(400_000);
    expect((await through(lines)) === lines).toBe(true);
    open.write("before\n");
    await open.until(/before/);
    gateway.child.kill("SIGTERM");
    await gateway.until(/waiting for open connections/);
    open.write("after\n");
    await open.until(/after/);
    expect(await through("after")).toBe("after");
    open.child.stdin?.end();
    expect((await open.ended).code).toBe(0);
    await forward.stop();
    expect((await gateway.ended).code).toBe(143);
    gateway = await startGateway();
  });

  test("a gateway that is to stop keeps open watches, and ends when the last one has", async () => {
    const watch = launch(kubectl(), ["--kubeconfig", fileOf("one"), "get", "configmaps", "--watch", "-o", "name"]);
    closers.push(() => void watch.child.kill("SIGKILL"));
    await watch.until(/configmap\/of-one/);
    gateway.child.kill("SIGTERM");
    await gateway.until(/waiting for open connections/);
    await until("no new connection", async () =>
      run(fileOf("one"), "get", "--raw", "/version").then(
        () => undefined,
        () => true,
      ),
    );
    await direct("one").create(ConfigMap, configMap("during-the-drain"));
    await watch.until(/configmap\/during-the-drain/);
    await watch.stop();
    expect((await gateway.ended).code).toBe(143);
  });
});
