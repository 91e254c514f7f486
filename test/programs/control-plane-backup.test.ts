/**
 * Backups of control planes as pods, with real programs: created from one service cluster into the simulated cloud's
 * Swift, and restored into another service cluster of another management cluster, to a time, and into the same one.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { allKinds, Cluster, HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type StartClusterControllers } from "@causeway/apiserver";
import { createMetrics, silentLog, systemClock } from "@causeway/foundation";
import {
  createHostedControlPlane,
  createPodsRuntime,
  createRuntimes,
  type Backups,
} from "@causeway/hosted-control-plane";
import {
  ConfigMap,
  createClient,
  createEventRecorder,
  createInformers,
  getCondition,
  isTrue,
  loadKubeconfig,
  Namespace,
  ownerReference,
  Secret,
  secretText,
  type Condition,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PlayedNode } from "./played-node.ts";
import { programs } from "./programs.ts";

const workloads = resolve(import.meta.dirname, "../../packages/causeway/src/workloads/start.ts");
const worker = resolve(import.meta.dirname, "../../packages/causeway/src/workloads/worker-main.ts");
/** Gives the command its object store. */
const backupStore = resolve(import.meta.dirname, "../../packages/causeway/src/backups/store.ts");
interface BackupStore {
  readonly openBackups: (
    flags: { backupCloud: string; backupContainer: string; backupKeyFile: string },
    using: { clock: typeof systemClock; log: typeof silentLog; metrics: ReturnType<typeof createMetrics> },
    signal: AbortSignal,
  ) => Promise<{ backups: Backups; close(): Promise<void> } | undefined>;
}
const key = (name: string) => ({ namespace: "default", name });
const tools = { clock: systemClock, log: silentLog };
const signal = new AbortController().signal;

function missing(): string | undefined {
  if (process.getuid?.() !== 0) return "needs root, for mount namespaces";
  const { kubernetes } = programs();
  if ("reason" in kubernetes) return kubernetes.reason;
  const needed = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];
  const absent = needed.filter((name) => !existsSync(join(kubernetes.dir, name)));
  return absent.length === 0 ? undefined : `${absent.join(", ")} not built`;
}

async function until<T>(what: string, check: () => Promise<T | undefined>): Promise<T> {
  let last: unknown;
  for (let i = 0; i < 1_200; i++) {
    try {
      const found = await check();
      if (found !== undefined) return found;
    } catch (error) {
      last = error;
    }
    await systemClock.sleep(100);
  }
  throw new Error(`not in time: ${what}`, { cause: last });
}

interface World {
  readonly client: KubernetesClient;
  tenant(name: string): Promise<KubernetesClient>;
  close(): Promise<void>;
}

/** A management cluster that is its own service cluster. */
async function startWorld(owner: string, backups: Backups): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), "backup-"));
  const { startWorkloads } = (await import(workloads)) as { startWorkloads: StartClusterControllers };
  const server = await startApiServer({
    crds: allKinds.map(toCustomResourceDefinition),
    dir: join(dir, "apiserver"),
    isolation: { program: worker },
    controllers: startWorkloads,
    management: { controllers: true },
  });
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  const clients = [client];
  const stopping = new AbortController();
  const { kubernetes } = programs();
  const built = "dir" in kubernetes ? kubernetes.dir : "";
  const informers = createInformers(client, tools);
  const node = new PlayedNode({ informers, client, dir: join(dir, "node"), programsOf: () => built });
  const readSecret = (namespace: string, name: string) => client.find(Secret, { namespace, name });
  const settings = { owner, pool: { members: 1 } };
  const pods = createPodsRuntime({ informers, settings, readSecret, backups, ...tools });
  const runtime = createRuntimes({ runtimes: { Pods: pods }, default: "Pods" });
  const events = createEventRecorder(client, { component: "test", clock: systemClock });
  const advertise = async () => "127.0.0.1";
  const controller = createHostedControlPlane({ informers, runtime, backups, advertise, events, ...tools });
  const running = [informers, node, pods, controller].map((each) => each.run(stopping.signal));
  return {
    client,
    async tenant(name) {
      const check = async () => secretText(await client.find(Secret, key(`${name}-kubeconfig`)), "value");
      const tenant = createClient(loadKubeconfig({ text: await until("kubeconfig", check) }));
      clients.push(tenant);
      // The node leads connections to API servers that are ready as of its last turn, as kube-proxy does.
      await until("the API through its Service", () => tenant.find(Namespace, { namespace: "", name: "default" }));
      return tenant;
    },
    async close() {
      stopping.abort(new Error("stopped"));
      await Promise.allSettled(running);
      await Promise.all(clients.map((each) => each.close()));
      await server.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function create({ client }: World, name: string, spec: Partial<HostedControlPlane["spec"]>): Promise<void> {
  const cluster = await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: key(name),
    spec: {
      clusterNetwork: { services: { cidrBlocks: ["10.97.0.0/16"] }, pods: { cidrBlocks: ["10.244.0.0/16"] } },
      controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name },
    },
  });
  const labels = { "cluster.x-k8s.io/cluster-name": name };
  await client.create(HostedControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata: { ...key(name), labels, ownerReferences: [ownerReference(cluster, { controller: true })] },
    spec: { version: "v1.34.4", runtime: "Pods", ...spec },
  });
}

const check = ({ client }: World, name: string) => client.get(HostedControlPlane, key(name));
const conditionsOf = ({ status }: HostedControlPlane) => (status?.conditions ?? []) as Condition[];
const available = (world: World, name: string) =>
  until(`${name} available`, async () => {
    const object = await check(world, name);
    return isTrue(conditionsOf(object), "Available") ? object : undefined;
  });

/** Waits until everything that was written before is in a backup. */
async function backedUp(world: World, name: string): Promise<string> {
  const now = Date.now();
  return until("backup", async () => {
    const { newest } = (await check(world, name)).status?.backup ?? {};
    // Times of the status are in whole seconds.
    return newest !== undefined && Date.parse(newest) > now ? newest : undefined;
  });
}

const configMap = (name: string, data: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: key(name),
  data,
});

/** Names, uids and contents of what a user created. */
async function contentOf(client: KubernetesClient): Promise<unknown> {
  const [maps, secrets, namespaces] = [
    await client.list(ConfigMap, { namespace: "default" }),
    await client.list(Secret, { namespace: "default" }),
    await client.list(Namespace),
  ];
  const view = ({ metadata, data }: ConfigMap | Secret) => [metadata.name, metadata.uid, data ?? null];
  return {
    maps: maps.items.map(view),
    secrets: secrets.items.map(view),
    namespaces: namespaces.items.map(({ metadata }) => [metadata.name, metadata.uid]),
  };
}

const why = missing();
describe.skipIf(why !== undefined)(`backups of control planes${why === undefined ? "" : ` (${why})`}`, () => {
  let [a, b] = [{} as World, {} as World];
  let simulator: Simulator | undefined;
  const worlds: World[] = [];
  let closeStore = async (): Promise<void> => {};
  const dir = mkdtempSync(join(tmpdir(), "backup-cloud-"));
  let before: unknown;
  let [time, from] = ["", ""];
  beforeAll(async () => {
    simulator = await startSimulator();
    writeFileSync(join(dir, "clouds.yaml"), simulator.cloudsYaml);
    writeFileSync(join(dir, "key"), randomBytes(32).toString("base64"));
    process.env["OS_CLIENT_CONFIG_FILE"] = join(dir, "clouds.yaml");
    const flags = { backupCloud: "simulator", backupContainer: "backups", backupKeyFile: join(dir, "key") };
    const { openBackups } = (await import(backupStore)) as BackupStore;
    const opened = await openBackups(flags, { ...tools, metrics: createMetrics() }, signal);
    if (opened === undefined) throw new Error("no store");
    closeStore = () => opened.close();
    a = await startWorld("first", opened.backups);
    worlds.push(a);
    b = await startWorld("second", opened.backups);
    worlds.push(b);
    await create(a, "web", { backup: { changesEverySeconds: 10 } });
    await available(a, "web");
  });
  afterAll(async () => {
    await Promise.all(worlds.map((each) => each.close()));
    await closeStore();
    await simulator?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test("are created by schedule while the control plane runs: all data, then what changed", async () => {
    const tenant = await a.tenant("web");
    await tenant.create(ConfigMap, configMap("kept", { a: "1" }));
    await tenant.create(ConfigMap, configMap("deleted", { a: "1" }));
    for (let i = 0; i < 5; i++) await tenant.create(ConfigMap, configMap(`large-${i}`, { text: "x".repeat(900_000) }));
    await tenant.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: key("password"),
      data: { word: Buffer.from("open").toString("base64") },
    } as Secret);
    // The controllers write it some time after the API serves.
    await until("root", () => tenant.find(ConfigMap, key("kube-root-ca.crt")));
    before = await contentOf(tenant);
    time = await backedUp(a, "web");
    await tenant.create(ConfigMap, configMap("late", { a: "1" }));
    await tenant.delete(ConfigMap, key("deleted"));
    await backedUp(a, "web");
    const object = await check(a, "web");
    const { folder = "", points = 0 } = object.status?.backup ?? {};
    expect(points).toBeGreaterThanOrEqual(3);
    expect(getCondition(conditionsOf(object), "BackedUp")).toMatchObject({ status: "True" });
    from = folder.slice("default/".length);
  });

  test("are encrypted: neither data, names nor keys are in the object store", async () => {
    const cloud = connectCloud(loadCloudsYaml({ cloud: "simulator" }));
    const names = (await cloud.objectStore.objects("backups")).map(({ name }) => name);
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) {
      const text = Buffer.from((await cloud.objectStore.get("backups", name)) ?? []).toString("latin1");
      expect(text.startsWith("CWB1")).toBe(true);
      expect(text).not.toMatch(/PRIVATE KEY|registry|password/);
    }
    await cloud.close();
  });

  test("are restored to a time, in another service cluster with an etcd of its own, with all keys", async () => {
    await create(b, "copy", {
      restore: { from, at: new Date(Date.parse(time) + 999).toISOString() },
      pods: { datastore: { type: "Own" } },
    });
    await available(b, "copy");
    const copy = await b.tenant("copy");
    expect(await contentOf(copy)).toEqual(before);
    // What has credentials of the first one has access to the restored one.
    const text = secretText(await a.client.get(Secret, key("web-kubeconfig")), "value") ?? "";
    const there = secretText(await b.client.get(Secret, key("copy-kubeconfig")), "value") ?? "";
    const old = createClient({ ...loadKubeconfig({ text }), server: loadKubeconfig({ text: there }).server });
    expect((await old.get(ConfigMap, key("kept"))).data).toEqual({ a: "1" });
    await copy.create(ConfigMap, configMap("new", {}));
    await old.close();
  });

  test("are restored in the same service cluster, next to the first one, with what was written and deleted last", async () => {
    await create(a, "again", { restore: { from } });
    await available(a, "again");
    const [web, again] = [await a.tenant("web"), await a.tenant("again")];
    expect(await contentOf(again)).toEqual(await contentOf(web));
    expect(await again.find(ConfigMap, key("deleted"))).toBeUndefined();
    await again.create(ConfigMap, configMap("only-here", {}));
    expect(await web.find(ConfigMap, key("only-here"))).toBeUndefined();
  });

  test("of another namespace, or that do not exist, are not restored: the condition has the code", async () => {
    await create(b, "none", { restore: { from: "web/00000000-0000-0000-0000-000000000000" } });
    const found = await until("condition", async () => {
      const condition = getCondition(conditionsOf(await check(b, "none")), "Available");
      return condition?.message?.includes("BACKUP_POINT_MISSING") === true ? condition : undefined;
    });
    expect(found.status).toBe("False");
    const patch = { type: "merge" as const, body: { spec: { restore: { from: "other/1" } } } };
    await expect(b.client.patch(HostedControlPlane, key("copy"), patch)).rejects.toThrow(/immutable/);
    await expect(a.client.patch(HostedControlPlane, key("web"), patch)).rejects.toThrow(/create another one/);
  });
});
