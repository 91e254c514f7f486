import { expect, test } from "vitest";
import type { Cloud, LoadBalancer, Member, Pool } from "@causeway/openstack";
import { asWritten, PoolDetails, type PoolRecord } from "./pool-details.ts";

/** The load balancer, whose time of change is none here. */
const settled = { updated_at: null };
const signal = new AbortController().signal;
const aPool = (ids: readonly string[]): Pool => ({ id: "p", members: ids.map((id) => ({ id })) }) as unknown as Pool;
const aMember = (id: string): Member =>
  ({ id, address: `10.0.0.${id}`, protocol_port: 30_000, weight: 1, provisioning_status: "ACTIVE" }) as Member;

/** A cloud that has these members, and counts how often they are requested. */
function setUp(ids: readonly string[], record?: PoolRecord) {
  const world = { members: ids.map(aMember), reads: 0 };
  const all = async (): Promise<Member[]> => {
    world.reads += 1;
    return world.members;
  };
  const healthMonitors = { find: async () => undefined };
  const cloud = { loadBalancing: { members: () => ({ all }), healthMonitors } } as unknown as Cloud;
  return { world, details: new PoolDetails(cloud, record) };
}

test("a pool's members are read once, and again when its entry is another", async () => {
  const { world, details } = setUp(["1", "2"]);
  for (let i = 0; i < 3; i += 1) await details.of(aPool(["1", "2"]), settled, signal);
  expect(world.reads).toBe(1);
  world.members = ["1", "3"].map(aMember);
  expect((await details.of(aPool(["1", "3"]), settled, signal)).members.map((m) => m.id)).toEqual(["1", "3"]);
  expect(world.reads).toBe(2);
});

test("a pool that was written is not read, neither before the list shows it nor when it does", async () => {
  const { world, details } = setUp(["1", "2"]);
  const before = await details.of(aPool(["1", "2"]), settled, signal);
  const wanted = ["2", "4", "5"].map((id) => ({ address: `10.0.0.${id}`, protocol_port: 30_000 }));
  details.forget("p");
  details.wrote(before, asWritten(before.members, wanted));
  const addresses = ["10.0.0.2", "10.0.0.4", "10.0.0.5"];
  expect((await details.of(before.pool, settled, signal)).members.map((m) => m.address)).toEqual(addresses);
  const after = await details.of(aPool(["2", "x", "y"]), settled, signal);
  expect(after.members.map((m) => [m.address, m.id])).toEqual([
    [addresses[0], "2"],
    [addresses[1], ""],
    [addresses[2], ""],
  ]);
  expect(world.reads).toBe(1);
  await details.of(aPool(["2", "x", "z"]), settled, signal);
  expect(world.reads).toBe(2);
});

test("a list that shows more or fewer than were written is not believed to be ours", async () => {
  const { world, details } = setUp(["1", "2"]);
  const before = await details.of(aPool(["1", "2"]), settled, signal);
  details.wrote(before, asWritten(before.members, [{ address: "10.0.0.2", protocol_port: 30_000 }]));
  await details.of(aPool(["2", "3"]), settled, signal);
  expect(world.reads).toBe(2);
});

test("a list that is as before the write is not mistaken for an old one: what was written may be gone again", async () => {
  const { world, details } = setUp(["1", "2"]);
  const before = await details.of(aPool(["1", "2"]), settled, signal);
  const wanted = ["1", "2", "3"].map((id) => ({ address: `10.0.0.${id}`, protocol_port: 30_000 }));
  details.wrote(before, asWritten(before.members, wanted));
  expect((await details.of(aPool(["1", "2"]), settled, signal)).members.map((m) => m.id)).toEqual(["1", "2"]);
  expect(world.reads).toBe(2);
});

test("the response to a create gives the members of its pools; a pool with a monitor is read all the same", async () => {
  const { world, details } = setUp(["1"]);
  const members = [aMember("1")];
  details.made({ pools: [{ id: "p", members, healthmonitor: null }] } as unknown as LoadBalancer);
  expect((await details.of(aPool(["1"]), settled, signal)).members).toMatchObject([
    { id: "1", provisioning_status: "ACTIVE" },
  ]);
  expect(world.reads).toBe(0);
  const other = setUp(["1"]);
  other.details.made({ pools: [{ id: "p", members, healthmonitor: { id: "h" } }] } as unknown as LoadBalancer);
  await other.details.of(aPool(["1"]), settled, signal);
  expect(other.world.reads).toBe(1);
  const shapes = [{ pools: [{ id: "p" }] }, { pools: [{ id: "p", members: [{ id: "1" }] }] }];
  for (const shape of shapes) {
    const { world: w, details: d } = setUp(["1"]);
    d.made(shape as unknown as LoadBalancer);
    await d.of(aPool(["1"]), settled, signal);
    expect(w.reads).toBe(1);
  }
});

test("a pool that has changed since our write was done is read, though it has as many members", async () => {
  const { world, details } = setUp(["1", "2"]);
  const at = (second: number) => ({ updated_at: `2026-01-01T00:00:0${second}` });
  const before = await details.of({ ...aPool(["1", "2"]), ...at(1) }, at(1), signal);
  const write = () =>
    details.wrote(
      before,
      asWritten(
        before.members,
        before.members.map(({ address, protocol_port }) => ({ address, protocol_port })),
      ),
    );
  write();
  await details.of(before.pool, at(3), signal);
  await details.of({ ...aPool(["1", "2"]), ...at(3) }, at(3), signal);
  expect(world.reads).toBe(1);
  write();
  await details.of(before.pool, at(3), signal);
  await details.of({ ...aPool(["1", "2"]), ...at(7) }, at(7), signal);
  expect(world.reads).toBe(2);
});

test("a list from while our write was under way is not mistaken for what became of it", async () => {
  const { world, details } = setUp(["1", "2"]);
  const before = await details.of(aPool(["1", "2"]), settled, signal);
  const wanted = ["2", "3"].map((id) => ({ address: `10.0.0.${id}`, protocol_port: 30_000 }));
  details.wrote(before, asWritten(before.members, wanted));
  const during: Pool = { ...aPool(["1", "2", "3"]), provisioning_status: "PENDING_UPDATE" };
  const addresses = ["10.0.0.2", "10.0.0.3"];
  expect((await details.of(during, settled, signal)).members.map((m) => m.address)).toEqual(addresses);
  expect((await details.of(aPool(["2", "3"]), settled, signal)).members.map((m) => m.address)).toEqual(addresses);
  expect(world.reads).toBe(1);
  await details.of(aPool(["2", "4"]), settled, signal);
  expect(world.reads).toBe(2);
});

/** A record that remembers what it is given. */
function aRecord() {
  const kept = new Map<string, { entry: string; members: readonly Member[] }>();
  const record: PoolRecord = {
    recall: (id, entry) => (kept.get(id)?.entry === entry ? kept.get(id)?.members : undefined),
    keep: (id, entry, members) => void kept.set(id, { entry, members }),
    drop: (id) => void kept.delete(id),
  };
  return { kept, record };
}

const active = (pool: Pool): Pool => ({ ...pool, provisioning_status: "ACTIVE" });

test("a process reads no members of a pool that is as the process before it left it", async () => {
  const { kept, record } = aRecord();
  const first = setUp(["1", "2"], record);
  await first.details.of(active(aPool(["1", "2"])), settled, signal);
  expect(kept.size).toBe(1);
  const second = setUp(["1", "2"], record);
  const found = await second.details.of(active(aPool(["1", "2"])), settled, signal);
  expect(found.members.map((m) => m.address)).toEqual(["10.0.0.1", "10.0.0.2"]);
  expect(second.world.reads).toBe(0);
});

test.each([
  ["has other members", active(aPool(["1", "3"]))],
  ["was changed at another time", { ...active(aPool(["1", "2"])), updated_at: "2026-01-01T00:00:09" }],
  ["is being changed", { ...aPool(["1", "2"]), provisioning_status: "PENDING_UPDATE" as const }],
  ["got a monitor", { ...active(aPool(["1", "2"])), healthmonitor_id: "m" }],
])("a process reads the members of a recorded pool that %s", async (_, pool) => {
  const { record } = aRecord();
  await setUp(["1", "2"], record).details.of(active(aPool(["1", "2"])), settled, signal);
  const { world, details } = setUp(["1", "2"], record);
  await details.of(pool, settled, signal);
  expect(world.reads).toBe(1);
});

test("a write of ours ends what is recorded of the pool, until a list shows what became of it", async () => {
  const { kept, record } = aRecord();
  const { world, details } = setUp(["1", "2"], record);
  const before = await details.of(active(aPool(["1", "2"])), settled, signal);
  details.forget("p");
  expect(kept.size).toBe(0);
  details.wrote(before, asWritten(before.members, [{ address: "10.0.0.7", protocol_port: 30_000 }]));
  await details.of(before.pool, settled, signal);
  expect(kept.size).toBe(0);
  await details.of(active(aPool(["x"])), settled, signal);
  expect([...kept.values()].map(({ members }) => members.map((m) => m.address))).toEqual([["10.0.0.7"]]);
  expect(world.reads).toBe(1);
});
