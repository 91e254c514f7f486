/**
 * Kubernetes' own programs of a control plane as pods, each killed by SIGKILL while clients write and watch: no
 * acknowledged write is lost, nothing is created twice, and watches see what is stored.
 */
import { silentLog, systemClock } from "@causeway/foundation";
import {
  ConfigMap,
  createInformers,
  Pod,
  StatefulSet,
  type Informers,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { available, create, managed, missingFor, startWorld, until, type World } from "./runtime-world.ts";
import { leaderOf } from "./shared-etcd.ts";
import { configMap, expectStored, loadOn, prepareLoad } from "./write-load.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const why = missingFor("Pods");
const MEMBERS = 3;
/** What one killed program may not stop: etcd keeps a majority, and one API server is up. */
const REDUNDANT = { replicas: 2, pods: { datastore: { type: "Own", members: MEMBERS } } };
/** Writes of each client that are acknowledged after all is as before. */
const AFTERWARDS = 10;

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
    await prepareLoad(tenant);
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
  const targets: readonly [string, () => Promise<readonly string[]>][] = [
    ["the leader of etcd", async () => [await leaderOf(world.client, namespace, MEMBERS)]],
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
      const result = await load.end();
      const { created, counts, ...rest } = result;
      console.log({ killed: what, created: created.length, counted: [...counts.values()], ...rest });
      // The pods are those of before: their containers were started again, and nothing was made in their place.
      expect(await uids()).toEqual(before);
      const items = await expectStored(tenant, round, result);
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
