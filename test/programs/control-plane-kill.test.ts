/**
 * Kubernetes' own programs of a control plane as pods, each killed by SIGKILL while clients write and watch: no
 * acknowledged write is lost, nothing is created twice, and watches see what is stored.
 */
import { silentLog, systemClock } from "@causeway/foundation";
import {
  ConfigMap,
  createInformers,
  isAlreadyExists,
  Pod,
  StatefulSet,
  type Informers,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { available, create, key, managed, missingFor, startWorld, until, type World } from "./runtime-world.ts";
import { openEtcdOf } from "./shared-etcd.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const why = missingFor("Pods");
const MEMBERS = 3;
/** What one killed program may not stop: etcd keeps a majority, and one API server is up. */
const REDUNDANT = { replicas: 2, pods: { datastore: { type: "Own", members: MEMBERS } } };
const WRITERS = 4;
/** Writes of each client that are acknowledged after all is as before. */
const AFTERWARDS = 10;

const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: key(name), data: {} });

/** Clients that create one object after the other and count upwards in one each, and repeat what fails. */
function loadOn(client: KubernetesClient, round: string) {
  const created: string[] = [];
  const counts = new Map<string, number>();
  /** Milliseconds between two writes that were acknowledged: of all clients, and of one of them. */
  let [longest, longestOfOne] = [0, 0];
  let [ended, last, failures] = [false, performance.now(), 0];
  const repeat = async (one: () => Promise<void>): Promise<void> => {
    let own = performance.now();
    while (!ended) {
      try {
        await one();
        const now = performance.now();
        longest = Math.max(longest, now - last);
        longestOfOne = Math.max(longestOfOne, now - own);
        last = own = now;
      } catch {
        failures++;
        await systemClock.sleep(20);
      }
    }
  };
  const creating = repeat(async () => {
    const name = `${round}-${created.length}`;
    await client.create(ConfigMap, configMap(name)).catch((error: unknown) => {
      // An earlier attempt's response was lost.
      if (!isAlreadyExists(error)) throw error;
    });
    created.push(name);
  });
  const writing = Array.from({ length: WRITERS }, (_, i) => {
    const name = `writer-${i}`;
    return repeat(async () => {
      const count = (counts.get(name) ?? 0) + 1;
      await client.patch(ConfigMap, key(name), { type: "merge", body: { data: { [round]: String(count) } } });
      counts.set(name, count);
    });
  });
  return {
    /** The fewest writes that a client has acknowledged so far. */
    fewest: () =>
      Math.min(created.length, ...Array.from({ length: WRITERS }, (_, i) => counts.get(`writer-${i}`) ?? 0)),
    async end() {
      ended = true;
      await Promise.all([creating, ...writing]);
      return { created, counts, failures, longest: Math.round(longest), longestOfOne: Math.round(longestOfOne) };
    },
  };
}

describe.skipIf(why !== undefined)(`programs of a control plane${why === undefined ? "" : ` (${why})`}`, () => {
  let world: World;
  let tenant: KubernetesClient;
  let informers: Informers;
  let namespace = "";
  const stopping = new AbortController();
  beforeAll(async () => {
    world = await startWorld("Pods");
    await create(world, "one", REDUNDANT);
    await available(world, "one");
    tenant = await world.tenant("one");
    const { items } = await world.client.list(StatefulSet, { labelSelector: managed });
    namespace = items.find(({ metadata }) => metadata.namespace?.startsWith("hcp-one-"))?.metadata.namespace ?? "";
    for (let i = 0; i < WRITERS; i++)
      await until("an object", () => tenant.create(ConfigMap, configMap(`writer-${i}`)));
    informers = createInformers(tenant, { clock: systemClock, log: silentLog });
    informers.for(ConfigMap);
    void informers.run(stopping.signal).catch(() => {});
    await informers.whenSynced();
  });
  afterAll(async () => {
    stopping.abort();
    await world?.close();
  });

  const pods = async (): Promise<Pod[]> => (await world.client.list(Pod, { namespace })).items;
  const namesOf = async (app: string): Promise<string[]> =>
    (await pods()).map(({ metadata }) => metadata.name).filter((name) => name.startsWith(app));
  const restarts = ({ status }: Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0;
  const uids = async () => (await pods()).map(({ metadata: { name, uid } }) => `${name} ${uid}`).toSorted();
  const ready = () =>
    until(
      "all pods ready",
      async () => {
        const all = await pods();
        const isReady = ({ status }: Pod) =>
          status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
        return all.length === MEMBERS + 3 * REDUNDANT.replicas && all.every(isReady) ? true : undefined;
      },
      3_000,
    );

  /** Kills the programs of these pods, and returns when they run again and all is ready. */
  const kill = async (names: readonly string[]): Promise<void> => {
    const counted = new Map((await pods()).map((pod) => [pod.metadata.name, restarts(pod)]));
    for (const name of names) world.kill({ namespace, name });
    await until("restarted", async () => {
      const again = (await pods()).filter((pod) => restarts(pod) > (counted.get(pod.metadata.name) ?? 0));
      return names.every((name) => again.some(({ metadata }) => metadata.name === name)) ? true : undefined;
    });
    await ready();
  };
  const leader = async (): Promise<string> => {
    const etcd = await openEtcdOf(world.client, namespace);
    for (let member = 0; member < MEMBERS; member++) {
      const { header, leader: id } = (await etcd("maintenance/status", {}, { member })) as {
        header: { member_id: string };
        leader: string;
      };
      if (header.member_id === id) return `etcd-${member}`;
    }
    throw new Error("no member leads");
  };

  const targets: readonly [string, () => Promise<readonly string[]>][] = [
    ["the leader of etcd", async () => [await leader()]],
    ["one of two API servers", async () => (await namesOf("kube-apiserver")).slice(0, 1)],
    ["both API servers", () => namesOf("kube-apiserver")],
    ["all members of etcd", () => namesOf("etcd-")],
    [
      "the controller manager and the scheduler",
      async () => [...(await namesOf("kube-controller-manager")), ...(await namesOf("kube-scheduler"))],
    ],
  ];
  test.for(targets)(
    "%s, killed while clients write: no acknowledged write is lost",
    { retry: 0 },
    async ([what, find]) => {
      await ready();
      const before = await uids();
      const round = what.replaceAll(/[^a-z]+/gi, "-").toLowerCase();
      const load = loadOn(tenant, round);
      await until("writes", async () => (load.fewest() > 0 ? true : undefined));
      const killed = await find();
      expect(killed.length).toBeGreaterThan(0);
      await kill(killed);
      const done = load.fewest();
      await until("writes afterwards", async () => (load.fewest() >= done + AFTERWARDS ? true : undefined));
      const { created, counts, ...rest } = await load.end();
      console.log({ killed: what, created: created.length, counted: [...counts.values()], ...rest });
      // The pods are those of before: their containers were started again, and nothing was made in their place.
      expect(await uids()).toEqual(before);
      const { items } = await until("a list", () => tenant.list(ConfigMap, { namespace: "default" }));
      const stored = items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith(`${round}-`));
      expect(created.filter((name) => !stored.includes(name))).toEqual([]);
      // The response to the last one may be lost.
      expect(stored.length - created.length).toBeLessThanOrEqual(1);
      for (const [name, count] of counts) {
        const data = items.find(({ metadata }) => metadata.name === name)?.data;
        expect(Number(data?.[round]), name).toBeGreaterThanOrEqual(count);
      }
      await until("a watch that has it all", async () => {
        const seen = informers
          .for(ConfigMap)
          .list()
          .filter(({ metadata }) => metadata.namespace === "default");
        const versions = (all: readonly ConfigMap[]) =>
          all.map(({ metadata: { name, resourceVersion } }) => `${name} ${resourceVersion}`).toSorted();
        return versions(seen).join() === versions(items).join() ? true : undefined;
      });
    },
  );

  test("API servers that are killed while an aggregated API cannot be reached serve again", { retry: 0 }, async () => {
    await ready();
    const path = "/apis/apiregistration.k8s.io/v1/apiservices";
    const name = "v1.nowhere.example.org";
    const spec = {
      group: "nowhere.example.org",
      version: "v1",
      groupPriorityMinimum: 1_000,
      versionPriority: 15,
      insecureSkipTLSVerify: true,
      service: { namespace: "default", name: "nowhere" },
    };
    const body = { apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata: { name }, spec };
    await until("the aggregated API", () => tenant.request("POST", path, { body }));
    await kill(await namesOf("kube-apiserver"));
    await until("a write", () => tenant.create(ConfigMap, configMap("next-to-an-aggregated-api")));
    await expect(tenant.request("GET", "/apis/nowhere.example.org/v1")).rejects.toMatchObject({
      details: { httpStatus: 503 },
    });
    await until("its deletion", () => tenant.request("DELETE", `${path}/${name}`));
  });
});
