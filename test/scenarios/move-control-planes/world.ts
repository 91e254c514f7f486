import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { allKinds, Cluster, HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { silentLog, systemClock } from "@causeway/foundation";
import { createHostedControlPlane, createPodsRuntime, createRuntimes } from "@causeway/hosted-control-plane";
import {
  createClient,
  createEventRecorder,
  createInformers,
  isAlreadyExists,
  loadKubeconfig,
  Namespace,
  ownerReference,
  Secret,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { playServiceCluster } from "./play.ts";

/** Selects what the runtime writes into the service cluster. */
export const managed = "app.kubernetes.io/managed-by=causeway-hosted-control-plane";

/** A management cluster and its program, which can be killed and started again. */
export interface Manager {
  readonly owner: string;
  /** The uid of namespace kube-system. */
  readonly management: string;
  /** Of the management cluster. */
  readonly client: KubernetesClient;
  createNamespace(name: string): Promise<void>;
  start(): void;
  /** It sends nothing more. */
  kill(): Promise<void>;
  /** Changes of the service cluster so far. */
  writes(): number;
}

/** Management clusters and the service cluster that runs the pods of all. */
export interface World {
  readonly managers: readonly Manager[];
  readonly service: KubernetesClient;
  /** Of shared etcds. */
  readonly users: ReadonlySet<string>;
  close(): Promise<void>;
}

const CHANGES = new Set(["create", "update", "patch", "apply", "delete"]);

export async function startWorld(owners: readonly string[]): Promise<World> {
  const servers: ApiServer[] = [];
  const serve = async (): Promise<KubernetesClient> => {
    const server = await startApiServer({ crds: allKinds.map(toCustomResourceDefinition) });
    servers.push(server);
    return createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  };
  const service = await serve();
  const tenants = await startApiServer({});
  servers.push(tenants);
  const users = new Set<string>();
  const ended = new AbortController();
  const playing = playServiceCluster(service, tenants, ended.signal);
  const managers: Manager[] = [];
  for (const owner of owners) {
    const client = await serve();
    const { metadata } = await client.get(Namespace, { namespace: "", name: "kube-system" });
    const manager = manage({ owner, management: metadata.uid ?? "", client, service, users });
    manager.start();
    managers.push(manager);
  }
  return {
    managers,
    service,
    users,
    async close() {
      for (const each of managers) await each.kill();
      ended.abort();
      await playing;
      for (const { client } of managers) await client.close();
      await service.close();
      for (const server of servers) await server.close();
    },
  };
}

interface ManageOptions {
  readonly owner: string;
  readonly management: string;
  readonly client: KubernetesClient;
  readonly service: KubernetesClient;
  readonly users: Set<string>;
}

function manage({ owner, management, client, service, users }: ManageOptions): Manager {
  let running: { readonly life: { dead: boolean }; stop(): Promise<void> } | undefined;
  let writes = 0;
  return {
    owner,
    management,
    client,
    writes: () => writes,
    async createNamespace(name) {
      const object = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
      await client.create(Namespace, object).catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
    },
    start() {
      const life = { dead: false };
      const stopped = new AbortController();
      const tools = { clock: systemClock, log: silentLog };
      const informers = createInformers(mortal(client, life), tools);
      const inService = createInformers(
        mortal(service, life, () => (writes += 1)),
        tools,
      );
      const etcd = {
        enableAuth: async () => {},
        ensureUser: async (_access: unknown, { name }: { readonly name: string }) => void users.add(name),
        removeUser: async (_access: unknown, { name }: { readonly name: string }) => void users.delete(name),
      };
      const pods = createPodsRuntime({
        informers: inService,
        settings: { owner, management, pool: { members: 1 } },
        readSecret: (namespace, name) => client.find(Secret, { namespace, name }),
        etcd,
        ...tools,
      });
      const controller = createHostedControlPlane({
        informers,
        runtime: createRuntimes({ runtimes: { Pods: pods }, default: "Pods" }),
        advertise: async () => "",
        events: createEventRecorder(mortal(client, life), { component: "test", clock: systemClock }),
        ...tools,
      });
      const parts = [informers, inService, pods, controller].map((part) => part.run(stopped.signal));
      running = {
        life,
        async stop() {
          stopped.abort();
          await Promise.allSettled(parts);
        },
      };
    },
    async kill() {
      if (running === undefined) return;
      running.life.dead = true;
      await running.stop();
      running = undefined;
    },
  };
}

/** A client that sends nothing more once its process is killed. */
function mortal(client: KubernetesClient, life: { dead: boolean }, written: () => void = () => {}): KubernetesClient {
  return new Proxy(client, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      if (!CHANGES.has(String(name))) return member.bind(target) as unknown;
      return async (...call: unknown[]): Promise<unknown> => {
        if (life.dead) throw new Error("killed");
        written();
        return Reflect.apply(member, target, call) as Promise<unknown>;
      };
    },
  });
}

/** A cluster whose API is at a port of its own of this host. */
export async function createTenant(
  _world: World,
  { client }: Manager,
  { namespace, name, pooled }: { readonly namespace: string; readonly name: string; readonly pooled: boolean },
): Promise<void> {
  const controlPlaneRef = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name };
  const cluster = await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { namespace, name },
    spec: { controlPlaneRef },
  });
  await client.create(HostedControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata: {
      namespace,
      name,
      labels: { "cluster.x-k8s.io/cluster-name": name },
      ownerReferences: [ownerReference(cluster, { controller: true })],
    },
    spec: {
      version: "v1.33.2",
      runtime: "Pods",
      endpoint: { host: "127.0.0.1", port: await freePort() },
      pods: { exposure: "LoadBalancer", datastore: { type: pooled ? "Pooled" : "Own" } },
    },
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The first value that is not undefined. */
export async function eventually<T>(what: string, read: () => Promise<T | undefined>): Promise<T> {
  const until = performance.now() + 300_000;
  for (;;) {
    const found = await read();
    if (found !== undefined) return found;
    if (performance.now() > until) throw new Error(`not in time: ${what}`);
    await systemClock.sleep(50);
  }
}
