/**
 * A control plane as pods that moves from the shared etcd to its own while clients write, with real programs: no
 * acknowledged write is lost, resource versions never go backwards, and the time without writes is printed.
 */
import { HostedControlPlane } from "@causeway/api";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  ConfigMap,
  createInformers,
  getCondition,
  Secret,
  secretText,
  type Condition,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { namespaceOfOne, settled } from "./pods-settled.ts";
import { available, create, key, managed, missingFor, startWorld, until, type World } from "./runtime-world.ts";
import { readSharedEtcd } from "./shared-etcd.ts";
import { followVersions, nodePrograms } from "./versions.ts";
import { expectStored, loadOn, prepareLoad } from "./write-load.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const why = missingFor("Pods");
/** Milliseconds in which the service may refuse writes. */
const LIMIT = 30_000;
/** API servers, and members of the own etcd. */
const [REPLICAS, MEMBERS] = [2, 3];
/** Writes of each client that are acknowledged after the move. */
const AFTERWARDS = 10;

describe.skipIf(why !== undefined)(`a move to an own etcd${why === undefined ? "" : ` (${why})`}`, () => {
  let world: World;
  let tenant: KubernetesClient;
  let programs: ReturnType<typeof nodePrograms>;
  let namespace = "";
  beforeAll(async () => {
    programs = nodePrograms();
    world = await startWorld(
      "Pods",
      { [programs.tag]: programs.dir },
      { members: 1, retention: 20_000 },
      { causewayImage: programs.image, datastoreMoves: true },
    );
    await create(world, "one", { replicas: REPLICAS, pods: { datastore: { type: "Pooled" } } });
    await available(world, "one");
    namespace = await namespaceOfOne(world.client);
    tenant = await world.tenant("one");
    await prepareLoad(tenant);
  });
  afterAll(async () => {
    await world?.close();
    programs.remove();
  });

  const request = (datastore: object) =>
    world.client.patch(HostedControlPlane, key("one"), { type: "merge", body: { spec: { pods: { datastore } } } });
  const migrated = async (): Promise<Condition | undefined> => {
    const { status } = await world.client.get(HostedControlPlane, key("one"));
    return getCondition((status?.conditions ?? []) as Condition[], "DatastoreMigrated");
  };

  test("loses no write, keeps resource versions in order, and has equal data on both sides", { retry: 0 }, async () => {
    const secret = { apiVersion: "v1", kind: "Secret", metadata: key("kept"), data: { word: btoa("before") } };
    await tenant.create(Secret, secret as Secret);
    const stopping = new AbortController();
    const informers = createInformers(tenant, { clock: systemClock, log: silentLog });
    const watched = informers.for(ConfigMap);
    const watching = informers.run(stopping.signal);
    await informers.whenSynced(stopping.signal);
    const [load, versions] = [loadOn(tenant, "moved"), followVersions(tenant)];
    await until("writes", async () => (load.fewest() > 0 ? true : undefined));
    const start = Date.now();
    await request({ type: "Own", members: MEMBERS });
    const condition = await until("the move", async () => {
      const found = await migrated();
      return found?.status === "True" ? found : undefined;
    });
    const moved = Date.now() - start;
    const done = load.fewest();
    await until("writes afterwards", async () => (load.fewest() >= done + AFTERWARDS ? true : undefined));
    const result = await load.end();
    const order = await versions.end();
    const { created, counts, ...rest } = result;
    console.log({ moved, created: created.length, counted: [...counts.values()], ...rest, order, condition });
    await expectStored(tenant, "moved", result);
    expect(order.backwards).toEqual([]);
    expect(order.last).toBeGreaterThan(1_000_000_000n);
    // What a watch reports: it began before the move, and lists again where its revision is not there any more.
    await until("the watch", async () =>
      result.created.every((name) => watched.get(key(name)) !== undefined) ? true : undefined,
    );
    for (const [name, count] of result.counts)
      await until(name, async () => (Number(watched.get(key(name))?.data?.["moved"]) >= count ? true : undefined));
    expect(rest.longest).toBeLessThanOrEqual(LIMIT);
    stopping.abort(new Error("stopped"));
    await Promise.allSettled([watching]);
    const { status } = await world.client.get(HostedControlPlane, key("one"));
    expect(status?.migration).toMatchObject({
      attempt: 1,
      keys: expect.any(Number),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(secretText(await tenant.get(Secret, key("kept")), "word")).toBe("before");
    const events = (await world.client.request("GET", "/apis/events.k8s.io/v1/namespaces/default/events")) as {
      items: { reason: string; note?: string }[];
    };
    const stages = events.items.filter(({ reason }) => reason === "DatastoreMigration").map(({ note }) => note ?? "");
    expect(stages.some((note) => note.includes(status?.migration?.hash ?? "none"))).toBe(true);
    await settled(world.client, namespace, { members: MEMBERS, replicas: REPLICAS });
  });

  test("leaves nothing in the shared etcd after the time that it is kept", { retry: 0 }, async () => {
    await until("the end", async () => {
      const { status } = await world.client.get(HostedControlPlane, key("one"));
      return status?.migration?.stage === "Done" ? true : undefined;
    });
    const shared = await readSharedEtcd(world.client, managed);
    expect([shared.users, shared.prefixes]).toEqual([["root"], []]);
  });

  test("cannot be reversed, and says so while the own etcd serves", { retry: 0 }, async () => {
    await request({ type: "Pooled" });
    const found = await until("the refusal", async () => {
      const { status } = await world.client.get(HostedControlPlane, key("one"));
      const upToDate = getCondition((status?.conditions ?? []) as Condition[], "UpToDate");
      return upToDate?.message?.includes("PODS_DATASTORE_CHANGED") === true ? upToDate : undefined;
    });
    expect(found).toMatchObject({ status: "False", reason: "SpecRefused" });
    expect(secretText(await tenant.get(Secret, key("kept")), "word")).toBe("before");
    await request({ type: "Own" });
  });
});
