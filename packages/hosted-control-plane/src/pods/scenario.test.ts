import { allKinds, Cluster, HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { silentLog, systemClock, VirtualClock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  createSharedWork,
  Deployment,
  loadKubeconfig,
  Namespace,
  ownerReference,
  Secret,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createHostedControlPlane } from "../controlplane/controller.ts";
import { createRuntimes } from "../runtimes.ts";
import { createPodsRuntime } from "./controller.ts";
import type { EtcdAdmin } from "../etcd/etcd-admin.ts";
import { managedSelector, poolNamespaceOf } from "./tenant.ts";
import { playRollouts } from "./testing/rollouts.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });
const TENANTS = ["red", "green", "blue", "white", "black", "grey"];
const gateway = { domain: "api.test", port: 6443, nodeAddress: "198.18.0.1", namespace: "gateways" };
const settings = { owner: "management", pool: { members: 1 as const }, gateway };

let server: ApiServer;
let client: KubernetesClient;
const ended = new AbortController();
let playing: Promise<void>;

/** The time of the Leases: it moves while no request about them is under way, however slow the machine is. */
const clock = new VirtualClock(Date.now());
let underWay = 0;

/** Creations in the service cluster, by kind and name. */
const created = new Map<string, number>();
let inVain = 0;
/** Of the shared etcd: its users, and how often each was made. */
const users = new Map<string, number>();
const etcd: EtcdAdmin = {
  enableAuth: async () => {},
  ensureUser: async (_, { name }) => void users.set(name, (users.get(name) ?? 0) + 1),
  removeUser: async (_, { name }) => void users.delete(name),
};

beforeAll(async () => {
  server = await startApiServer({ crds: allKinds.map(toCustomResourceDefinition) });
  client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  for (const name of ["shards", ...TENANTS])
    await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const { signal } = ended;
  playing = playRollouts(client, signal);
  void (async () => {
    while (!signal.aborted) {
      if (underWay === 0) await clock.advance(500);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
});
afterAll(async () => {
  ended.abort();
  await playing;
  await client.close();
  await server.close();
});

/** How a call ended. */
interface Ended {
  (outcome: "success" | "error"): void;
}

/** A client that sends nothing more, and hears of nothing more, once its process is killed. */
function mortal(real: KubernetesClient, began: (member: string, call: readonly unknown[]) => Ended) {
  const life = { dead: false };
  const proxy = new Proxy(real, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      if (name === "watch" || name === "close") return member.bind(target) as unknown;
      return async (...call: unknown[]): Promise<unknown> => {
        if (life.dead) return new Promise(() => {});
        const ended = began(String(name), call);
        try {
          const result = await (Reflect.apply(member, target, call) as Promise<unknown>);
          ended("success");
          return life.dead ? await new Promise(() => {}) : result;
        } catch (error) {
          ended("error");
          throw error;
        }
      };
    },
  });
  return { client: proxy, life };
}

/** A process that works on a share of the namespaces. */
function join(identity: string) {
  const leases = mortal(client, () => {
    underWay++;
    return () => underWay--;
  });
  const work = mortal(client, (member, call) => {
    const [{ kind }, { metadata }] = call as [ResourceType<KubeObject>, KubeObject];
    if (member !== "create" || !["Namespace", "Secret"].includes(kind)) return () => {};
    return (outcome) => {
      // What was under way at a kill, or when a namespace moved, may be repeated in vain.
      if (outcome === "error") {
        inVain++;
        return;
      }
      const key = `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
      created.set(key, (created.get(key) ?? 0) + 1);
    };
  });
  const [stop, stopSharing] = [new AbortController(), new AbortController()];
  const shards = createSharedWork({
    client: leases.client,
    namespace: "shards",
    name: "hcp",
    identity,
    count: 16,
    clock,
  });
  const sharing = shards.run(stopSharing.signal);
  const tools = { clock: systemClock, log: silentLog };
  const informers = createInformers(work.client, tools);
  const readSecret = (namespace: string, name: string) => work.client.find(Secret, { namespace, name });
  const shared = { shards, controlPlanes: informers.for(HostedControlPlane) };
  const pods = createPodsRuntime({ informers, settings, readSecret, etcd, shared, ...tools });
  const runtime = createRuntimes({ runtimes: { Pods: pods }, default: "Pods" });
  const events = createEventRecorder(work.client, { component: "test", clock: systemClock });
  const controller = createHostedControlPlane({
    informers,
    runtime,
    advertise: async () => "",
    events,
    shards,
    ...tools,
  });
  shards.beforeWork((signal) => informers.relist(AbortSignal.any([signal, stop.signal])));
  const running = Promise.allSettled([informers, pods, controller].map((part) => part.run(stop.signal)));
  return {
    owned: () => TENANTS.filter((tenant) => shards.owns(tenant)),
    kill() {
      leases.life.dead = true;
      work.life.dead = true;
      // What it waits for never comes: it is left as it is.
      stop.abort();
    },
    async end() {
      stop.abort();
      await running;
      stopSharing.abort();
      await sharing;
    },
  };
}

async function create(namespace: string): Promise<void> {
  const name = "web";
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
    spec: { version: "v1.33.2", runtime: "Pods", replicas: 2, pods: { exposure: "Gateway" } },
  });
}

const namespaces = async (): Promise<Namespace[]> =>
  (await client.list(Namespace, { labelSelector: managedSelector })).items;

/** The namespaces in the service cluster of a tenant's control plane. */
async function namespacesOf(tenant: string): Promise<string[]> {
  const id = `${tenant}.web`;
  const own = (await namespaces()).filter(
    ({ metadata }) => metadata.annotations?.["controlplane.causeway.dev/id"] === id,
  );
  return own.map(({ metadata }) => metadata.name);
}

/** Its programs; complete when the last one is there. */
async function programsOf(namespace: string): Promise<string[]> {
  const { items } = await client.list(Deployment, { namespace });
  return items.map(({ metadata }) => metadata.name).toSorted();
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 1_000; i++) {
    if (await holds()) return;
    await systemClock.sleep(30);
  }
  throw new Error(`not in time: ${what}`);
}

test("processes that share the work make one of each while one joins and one is killed, and leave nothing", async () => {
  const first = join("first");
  for (const tenant of TENANTS) await create(tenant);
  await until("the first process at work", async () => (await namespaces()).length > 3);
  const second = join("second");
  await until("both to work", async () => first.owned().length > 0 && second.owned().length > 0);
  first.kill();
  const third = join("third");
  await until("every control plane complete", async () => {
    for (const tenant of TENANTS) {
      const [namespace] = await namespacesOf(tenant);
      if (namespace === undefined || (await programsOf(namespace)).length < 3) return false;
    }
    return true;
  });
  await until("the live processes to have all", async () => {
    const owned = [...second.owned(), ...third.owned()];
    return owned.length === TENANTS.length && TENANTS.every((tenant) => owned.includes(tenant));
  });

  for (const tenant of TENANTS) {
    const own = await namespacesOf(tenant);
    expect(own).toHaveLength(1);
    expect(await programsOf(own[0] ?? "")).toEqual(["kube-apiserver", "kube-controller-manager", "kube-scheduler"]);
    expect(users.has(own[0] ?? "")).toBe(true);
  }
  expect((await namespaces()).map(({ metadata }) => metadata.name)).toContain(poolNamespaceOf("management"));
  expect(await namespaces()).toHaveLength(TENANTS.length + 1);
  // Nothing was made, lost and made again, and hardly anything was tried twice.
  expect([...created].filter(([, times]) => times > 1)).toEqual([]);
  expect(inVain).toBeLessThanOrEqual(2 * TENANTS.length);

  for (const tenant of TENANTS) {
    await client.delete(HostedControlPlane, { namespace: tenant, name: "web" });
    await client.delete(Cluster, { namespace: tenant, name: "web" });
  }
  await until("all control planes gone", async () => (await client.list(HostedControlPlane)).items.length === 0);
  await until("their namespaces gone", async () => (await namespaces()).length === 1);
  expect([...users.keys()]).toEqual([]);
  await Promise.all([second.end(), third.end()]);
});
