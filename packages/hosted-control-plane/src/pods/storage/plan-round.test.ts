/** The bounds of a round of the shared etcd: what is measured, compacted and defragmented at which size. */
import { describe, expect, test } from "vitest";
import type { MemberStatus } from "../../etcd/maintenance.ts";
import { dueTenants, planRound, stopAt, type RoundObserved } from "./plan-round.ts";
import type { StorageRecord } from "./records.ts";

const MIB = 2 ** 20;
const GIB = 1024 * MIB;
const now = Date.UTC(2026, 0, 1);
const quota = 4 * GIB;
const alarms = [{ memberID: "1" }];

/** `size` and `inUse` in bytes; member "1" leads. */
const member = (id: string, size: number, inUse: number, revision = 500): MemberStatus => ({
  host: `10.0.0.${id}`,
  id,
  leader: "1",
  size,
  inUse,
  revision,
});
const round = (members: MemberStatus[], changes: Partial<RoundObserved> = {}) =>
  planRound({
    members,
    expected: members.length,
    alarms: [],
    quota,
    tenants: [],
    records: new Map(),
    before: { inUse: 0, revision: 400 },
    ...changes,
  });

describe("pressure on the shared etcd", () => {
  const small = member("1", 100, 100);
  const before = (inUse: number, revision = 400) => ({ before: { inUse, revision } });
  test.for<[title: string, members: MemberStatus[], Partial<RoundObserved>, compactAt: number | undefined | "none"]>([
    ["is none while it is quiet", [small], {}, "none"],
    ["is none as it grows by a 64th of the quota", [member("1", quota, quota / 64)], before(0), "none"],
    ["is there when it grows by more", [member("1", quota, quota / 64 + 1)], before(0), 400],
    ["is of growth, not of size", [member("1", quota, quota / 2)], before(quota / 2 - 1), "none"],
    ["is none with three quarters in use", [member("1", quota, quota * 0.75)], before(quota * 0.75), "none"],
    ["is there with more in use", [member("1", quota, quota * 0.75 + 1)], before(quota * 0.75), 400],
    ["is that of the fullest member", [small, member("2", quota, quota * 0.75 + 1)], before(quota), 400],
    ["is not known of growth in the first round", [member("1", quota, quota / 2)], { before: undefined }, "none"],
    ["compacts nothing in the first round", [member("1", quota, quota)], { before: undefined }, undefined],
    ["compacts nothing before the first revision", [member("1", quota, quota)], before(0, 0), undefined],
    ["compacts up to the newest revision with an alarm", [small, member("2", 9, 9, 501)], { alarms }, 501],
    ["compacts nothing where no member responds", [], { alarms }, undefined],
  ])("%s", ([, members, changes, compactAt]) => {
    const { pressure, allowance, ...found } = round(members, changes);
    expect([pressure, allowance]).toEqual(compactAt === "none" ? [false, 8 * MIB] : [true, 256 * MIB]);
    if (typeof compactAt === "number") expect(found.compactAt).toBe(compactAt);
    else expect(found).not.toHaveProperty("compactAt");
  });

  test("ends with the alarm when every member has a twentieth of the quota free, and not with one that has less", () => {
    const [free, full] = [member("1", quota * 0.95 - 1, 0), member("2", quota * 0.95, 0)];
    expect(round([free, free], { alarms }).disarm).toEqual(alarms);
    expect(round([free, full], { alarms }).disarm).toEqual([]);
    expect(round([free, free]).disarm).toEqual([]);
  });
});

describe("a member of the shared etcd is defragmented", () => {
  const large = quota * 0.8 + 10;
  test.for<[title: string, isDue: boolean, size: number, inUse: number, Partial<RoundObserved>]>([
    ["near the quota with much free", true, 801, 500, { quota: 1000 }],
    ["not at four fifths of the quota", false, 800, 500, { quota: 1000 }],
    ["not with three tenths free", false, 1000, 700, { quota: 1000 }],
    ["with more free", true, 1000, 699, { quota: 1000 }],
    ["not where it copies a gibibyte", false, large, GIB, {}],
    ["where it copies a byte less", true, large, GIB - 1, {}],
    ["with an alarm above half of the quota", true, 501, 400, { alarms, quota: 1000 }],
    ["with an alarm not at half of the quota", false, 500, 400, { alarms, quota: 1000 }],
    ["with an alarm not with a tenth free", false, 1000, 900, { alarms, quota: 1000 }],
    ["with an alarm where more is free", true, 1000, 899, { alarms, quota: 1000 }],
    ["with an alarm whatever it copies", true, large, GIB, { alarms }],
  ])("%s", ([, isDue, size, inUse, changes]) => {
    const one = member("2", size, inUse);
    const found = round([one], changes);
    expect(found.defragment).toEqual(isDue ? one : undefined);
    expect(found).not.toHaveProperty("moveLeader");
  });

  const [led, mid, big] = [member("1", quota, 0), member("2", quota - 2, 0), member("3", quota - 1, 0)];
  const [idle, least] = [member("2", 20, 20), member("3", 10, 10)];
  test.for<
    [title: string, MemberStatus[], Partial<RoundObserved>, defragment?: string | undefined, moved?: [string, string]]
  >([
    ["first the largest follower", [led, mid, big], {}, "3"],
    ["a follower before the leader, though that one is larger", [led, mid], {}, "2"],
    ["only when all are there", [led, mid, big], { expected: 4 }],
    ["the leader last, after the smallest other one leads", [led, idle, least], {}, undefined, ["1", "3"]],
    ["the only one, which leads", [led], {}, "1"],
    ["none where none is due", [member("1", 5, 5), idle, least], {}],
  ])("%s", ([, members, changes, defragment, moved]) => {
    const found = round(members, changes);
    expect(found.defragment?.id).toBe(defragment);
    expect(found.moveLeader && [found.moveLeader.from.id, found.moveLeader.to.id]).toEqual(moved);
  });
});

describe("the leader of the shared etcd", () => {
  const three = ["1", "2", "3"].map((id) => member(id, 10, 10));
  const hosts = (...ids: string[]) => ({ leaders: ids.map((id) => `10.0.0.${id}`) });
  test.for<[title: string, MemberStatus[], Partial<RoundObserved>, moved?: [string, string]]>([
    ["is the one that leads best", three, hosts("1", "2")],
    ["moves to the one that leads best", three, hosts("2", "1"), ["1", "2"]],
    ["moves to the best one that responds", three.slice(0, 2), { expected: 3, ...hosts("3", "2", "1") }, ["1", "2"]],
    ["remains where none of them responds", three, hosts("9")],
    ["remains where nothing says who leads best", three, {}],
    ["is not moved where none is known", three.slice(1), { expected: 3, ...hosts("3") }],
    ["is not one without an id", [{ ...member("", 10, 10), leader: "" }, member("2", 10, 10)], hosts("2")],
  ])("%s", ([, members, changes, moved]) => {
    const { moveLeader } = round(members, changes);
    expect(moveLeader && [moveLeader.from.id, moveLeader.to.id]).toEqual(moved);
  });
});

describe("a control plane is measured", () => {
  const budget = 100 * MIB;
  const record = (stage: StorageRecord["stage"], mib: number, age: number): StorageRecord => ({
    bytes: mib * MIB,
    budget,
    stage,
    at: now - age * 1_000,
  });
  const due = (
    records: Record<string, StorageRecord>,
    writers: Record<string, number> = {},
    names = Object.keys(records),
  ) =>
    dueTenants(
      { tenants: names.map((name) => ({ name, budget })), records: new Map(Object.entries(records)) },
      new Map(Object.entries(writers)),
      now,
    ).map(({ name }) => name);

  test.for<[stage: StorageRecord["stage"], mib: number, seconds: number]>([
    ["Within", 1, 60],
    ["Within", 61, 61],
    ["Within", 5_000, 1_800],
    ["Exceeded", 1, 4],
    ["Sealed", 80, 10],
    ["Sealed", 80_000, 300],
  ])(
    "less often the more it stores, and more often when it is refused: %s with %s MiB each %s s",
    ([stage, mib, seconds]) => {
      expect(due({ a: record(stage, mib, seconds) })).toEqual(["a"]);
      expect(due({ a: record(stage, mib, seconds - 0.001) })).toEqual([]);
    },
  );

  test("first where it wrote most since, then where it is new or its budget is another one, then in turn", () => {
    const all = {
      quiet: record("Within", 1, 70),
      late: record("Within", 1, 90),
      fresh: record("Within", 1, 1),
      raised: { ...record("Within", 1, 1), budget: 1 },
      little: record("Within", 1, 10),
      much: record("Within", 1, 5),
    };
    const names = [...Object.keys(all), "new"];
    expect(due(all, { little: 10, much: 30, fresh: 0 }, names)).toEqual([
      "much",
      "little",
      "raised",
      "new",
      "late",
      "quiet",
    ]);
    // By a clock that was set back it wrote nothing since, and is measured all the same.
    expect(due({ a: record("Within", 1, -10) }, { a: 5 })).toEqual(["a"]);
    expect(due({ late: all.late }, { new: 5 }, ["late", "new"])).toEqual(["new", "late"]);
  });

  test("up to twice its budget, or where it is sealed, and a little more", () => {
    const tenant = { name: "a", budget };
    expect(stopAt(tenant, undefined)).toBe(201 * MIB);
    expect(stopAt(tenant, { ...record("Sealed", 1, 1), sealAt: 300 * MIB })).toBe(301 * MIB);
    expect(stopAt(tenant, { ...record("Sealed", 1, 1), sealAt: 150 * MIB })).toBe(201 * MIB);
  });
});
