import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ConfigMap } from "@causeway/kubernetes";
import {
  budgetAnnotation,
  datastoreAnnotation,
  idAnnotation,
  ownerAnnotation,
  poolAnnotation,
  poolNamespaceOf,
} from "../tenant.ts";
import type { MemberStatus } from "../../etcd/maintenance.ts";
import { dueTenants, planRound, type RoundObserved } from "./plan-round.ts";
import { permissionChanges, permissionsOf, policyKeys, type Permission } from "../../etcd/permissions.ts";
import { policyObjects } from "./policy.ts";
import { nextRecord, parseRecords, recordsObject, spaceFor, type StorageRecord, type StorageStage } from "./records.ts";
import {
  capacityOf,
  pooledNames,
  quotaOf,
  shareFor,
  sharesWanted,
  storageTenants,
  type ShareWanted,
} from "./shares.ts";

const MIB = 2 ** 20;
const now = Date.UTC(2026, 0, 1);
const record = (stage: StorageStage, mib: number, changes: Partial<StorageRecord> = {}): StorageRecord => ({
  bytes: mib * MIB,
  budget: 100 * MIB,
  stage,
  at: now,
  ...(stage === "Within" ? {} : { sealAt: 135 * MIB }),
  ...changes,
});

describe("the stage of a control plane", () => {
  const rows: [string, StorageRecord | undefined, number, number, StorageStage][] = [
    ["is Within without a record and at its budget", undefined, 100, 100, "Within"],
    ["is Exceeded with a byte more than its budget", undefined, 101, 100, "Exceeded"],
    ["is Exceeded, however much it wrote before it was noticed", record("Within", 50), 900, 100, "Exceeded"],
    ["remains Exceeded just below its budget", record("Exceeded", 110), 95, 100, "Exceeded"],
    ["is Within again a tenth below its budget", record("Exceeded", 110), 90, 100, "Within"],
    ["is Within when its budget is raised", record("Exceeded", 110), 110, 200, "Within"],
    ["is Sealed when it grew by a quarter of its budget since", record("Exceeded", 110), 136, 100, "Sealed"],
    ["remains Sealed while nothing can be deleted", record("Sealed", 136), 136, 100, "Sealed"],
    [
      "is Exceeded when a sealed one has a larger budget that is not enough",
      record("Sealed", 140),
      140,
      120,
      "Exceeded",
    ],
    ["remains Sealed with a byte more of budget: raises add up to nothing", record("Sealed", 140), 140, 101, "Sealed"],
    ["is Within when a sealed one has a larger budget that is enough", record("Sealed", 140), 140, 160, "Within"],
  ];
  test.each(rows)("%s", (_, before, bytes, budget, stage) => {
    expect(nextRecord(before, { bytes: bytes * MIB, budget: budget * MIB, at: now }).stage).toBe(stage);
  });

  const minutes = 60_000;
  const openings: [string, StorageRecord, number, number, Partial<StorageRecord>][] = [
    [
      "is sealed for ten minutes at first",
      record("Exceeded", 110),
      0,
      136,
      { stage: "Sealed", seals: 1, opensAt: now + 10 * minutes },
    ],
    [
      "remains Sealed until then",
      record("Sealed", 136, { seals: 1, opensAt: now + 10 * minutes }),
      9,
      136,
      { stage: "Sealed" },
    ],
    [
      "is opened then, so that users can delete objects, with a sixteenth of its budget to spare",
      record("Sealed", 136, { seals: 1, opensAt: now + 10 * minutes }),
      10,
      136,
      { stage: "Exceeded", seals: 1, sealAt: 142.25 * MIB },
    ],
    [
      "is sealed for twice as long when it grows again",
      record("Exceeded", 136, { seals: 1, sealAt: 142 * MIB }),
      20,
      143,
      { stage: "Sealed", seals: 2, opensAt: now + 40 * minutes },
    ],
    [
      "is sealed for a day at most",
      record("Exceeded", 136, { seals: 900, sealAt: 142 * MIB }),
      0,
      143,
      { seals: 901, opensAt: now + 1440 * minutes },
    ],
    [
      "is not opened when it stores half more than its budget",
      record("Sealed", 151, { opensAt: now }),
      99,
      151,
      { stage: "Sealed" },
    ],
    [
      "of an earlier version is opened ten minutes later",
      record("Sealed", 136),
      0,
      136,
      { stage: "Sealed", seals: 1, opensAt: now + 10 * minutes },
    ],
    [
      "begins again when it was within its budget",
      record("Exceeded", 136, { seals: 3, sealAt: 142 * MIB }),
      0,
      90,
      { stage: "Within" },
    ],
  ];
  test.each(openings)("%s", (_, before, after, bytes, expected) => {
    const next = nextRecord(before, { bytes: bytes * MIB, budget: 100 * MIB, at: now + after * minutes });
    expect(next).toMatchObject(expected);
    if (next.stage === "Within") expect(next).not.toHaveProperty("seals");
  });

  test("lets one that writes whatever it may grow by little, and one that deletes back in", () => {
    const steps = fc.array(fc.record({ minutes: fc.nat(2_000), grows: fc.nat(20) }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (all) => {
        let [known, at]: [StorageRecord, number] = [record("Sealed", 126, { seals: 1, opensAt: now }), now];
        for (const step of all) {
          at += step.minutes * minutes;
          // What may only read does not grow; what may write grows until it is noticed.
          const grows = known.stage === "Sealed" ? 0 : step.grows * MIB;
          known = nextRecord(known, { bytes: known.bytes + grows, budget: 100 * MIB, at });
        }
        // Opened at one and a half of the budget at most: a sixteenth more, and what was written until it was noticed.
        expect(known.bytes).toBeLessThanOrEqual((150 + 6.25 + 20) * MIB);
        if (known.bytes > 150 * MIB) return;
        const waited = { budget: 100 * MIB, at: at + 1_441 * minutes };
        const opened = nextRecord(known, { ...waited, bytes: known.bytes });
        expect(nextRecord(opened, { ...waited, bytes: 89 * MIB }).stage).toBe("Within");
      }),
    );
  });

  const opening = { bytes: 140 * MIB, budget: 100 * MIB, at: now };
  test.for<[title: string, space: number, expected: Partial<StorageRecord>]>([
    [
      "remains Sealed, and says why, when the shared etcd lacks space",
      146 * MIB,
      { stage: "Sealed", lacksSpace: true },
    ],
    ["is opened with just enough space", 147 * MIB, { stage: "Exceeded", sealAt: 146.25 * MIB }],
  ])("%s", ([, space, expected]) => {
    const next = nextRecord(record("Sealed", 140, { opensAt: now }), { ...opening, space });
    expect(next).toMatchObject(expected);
  });

  test("lets one that grew by a quarter of its budget at most back in, whatever the others store", () => {
    const before = record("Sealed", 118, { opensAt: now });
    expect(nextRecord(before, { ...opening, bytes: 118 * MIB, space: 0 }).stage).toBe("Exceeded");
  });

  test("leaves a fifth of the quota free, however many tenants write all that they may in whatever order", () => {
    const capacity = capacityOf({});
    const plans = fc.record({
      shares: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 12 }),
      turns: fc.array(fc.record({ who: fc.nat(11), minutes: fc.nat(3_000) }), { maxLength: 200 }),
    });
    fc.assert(
      fc.property(plans, ({ shares, turns }) => {
        const all = shares.reduce((sum, each) => sum + each, 0);
        const tenants = shares.map((share, index) => ({
          name: `hcp-${index}`,
          budget: Math.floor((capacity * share) / all),
        }));
        const records = new Map<string, StorageRecord>();
        let at = now;
        // Every one writes all that it may at first, then those of the turns do whenever they can.
        const writers = [...tenants, ...tenants, ...turns.map(({ who }) => tenants[who % tenants.length])];
        for (const [index, tenant] of writers.entries()) {
          at += (turns[index - 2 * tenants.length]?.minutes ?? 1) * minutes;
          if (tenant === undefined) continue;
          const { name, budget } = tenant;
          const measure = (bytes: number) => {
            const space = spaceFor(name, { tenants, records, quota: quotaOf({}) });
            records.set(name, nextRecord(records.get(name), { bytes, budget, at, space }));
          };
          measure(records.get(name)?.bytes ?? 0);
          const { stage, bytes, sealAt = 0 } = records.get(name) ?? record("Within", 0);
          if (stage !== "Sealed") measure(stage === "Within" ? budget + 1 : Math.max(bytes, sealAt + 1));
        }
        const stored = [...records.values()].reduce((sum, { bytes }) => sum + bytes, 0);
        // A write is noticed after a byte here.
        expect(stored).toBeLessThanOrEqual(quotaOf({}) * 0.8 + 3 * writers.length);
      }),
      {
        examples: [
          [
            {
              shares: [1, 1, 1, 1],
              turns: Array.from({ length: 120 }, (_, who) => ({ who: who % 12, minutes: 3_000 })),
            },
          ],
        ],
      },
    );
  });

  test("is kept by a ConfigMap, and what cannot be read there is measured again", () => {
    const records = new Map([
      ["hcp-a", record("Exceeded", 120)],
      ["hcp-d", record("Sealed", 140, { seals: 2, opensAt: now + 1, lacksSpace: true })],
      ["hcp-b", record("Within", 1)],
    ]);
    const object = recordsObject("pool", records);
    expect(parseRecords(object)).toEqual(records);
    const broken = { ...object, data: { ...object.data, "hcp-a": "{", "hcp-c": '{"stage":"Other"}' } } as ConfigMap;
    expect([...parseRecords(broken).keys()]).toEqual(["hcp-d", "hcp-b"]);
  });
});

describe("shares of the shared etcd", () => {
  test("the quota leaves room in the volume, and budgets leave room in the quota", () => {
    expect(quotaOf({})).toBe(6 * 1024 * MIB);
    expect(quotaOf({ pool: { storage: "1Gi" } })).toBe(768 * MIB);
    expect(quotaOf({ pool: { storage: "64Gi" } })).toBe(8 * 1024 * MIB);
    expect(capacityOf({})).toBeLessThan(quotaOf({}));
  });

  const rows: [string, string, ShareWanted[], number][] = [
    [
      "a new one gets what is left",
      "b",
      [
        { id: "a", wanted: 60, granted: 60 },
        { id: "b", wanted: 30 },
      ],
      40,
    ],
    [
      "of two new ones the first in order comes first",
      "b",
      [
        { id: "a", wanted: 80 },
        { id: "b", wanted: 80 },
      ],
      20,
    ],
    [
      "one that wants too much takes nothing from others",
      "b",
      [
        { id: "a", wanted: 900 },
        { id: "b", wanted: 9 },
      ],
      100,
    ],
    ["what was granted remains, whatever the capacity is", "a", [{ id: "a", wanted: 300, granted: 300 }], 300],
    ["one that grows keeps what it has and gets the rest", "a", [{ id: "a", wanted: 99, granted: 40 }], 100],
  ];
  test.each(rows)("%s", (_, id, all, share) => {
    expect(shareFor(id, all, 100)).toBe(share);
  });

  test("are enforced where a budget was granted, and not before for one of an older version", () => {
    const pooled = { [ownerAnnotation]: "us", [datastoreAnnotation]: "Pooled" };
    const namespaces = [
      { metadata: { name: "hcp-new", annotations: { ...pooled, [budgetAnnotation]: "1024" } } },
      { metadata: { name: "hcp-old", annotations: pooled } },
    ].map((one) => ({ apiVersion: "v1" as const, kind: "Namespace" as const, ...one }));
    expect(storageTenants("us", namespaces)).toEqual([{ name: "hcp-new", budget: 1024 }]);
    expect(pooledNames("us", namespaces)).toEqual(["hcp-new", "hcp-old"]);
  });

  test("are of the shared etcd with the data, whichever management cluster has the control plane", () => {
    const pooled = { [datastoreAnnotation]: "Pooled", [budgetAnnotation]: "1024" };
    const moved = { ...pooled, [ownerAnnotation]: "them", [poolAnnotation]: poolNamespaceOf("us") };
    const namespaces = [
      { metadata: { name: "hcp-ours", annotations: { ...pooled, [ownerAnnotation]: "us", [idAnnotation]: "a.ours" } } },
      { metadata: { name: "hcp-moved", annotations: { ...moved, [idAnnotation]: "a.moved" } } },
    ].map((one) => ({ apiVersion: "v1" as const, kind: "Namespace" as const, ...one }));
    expect(pooledNames("us", namespaces)).toEqual(["hcp-ours", "hcp-moved"]);
    expect(pooledNames("them", namespaces)).toEqual([]);
    const wanted = sharesWanted({ owner: "them", namespaces, requested: [{ id: "a.moved" }, { id: "a.new" }] });
    expect(wanted.map(({ id }) => id)).toEqual(["a.new"]);
  });

  test("never sum up to more than the capacity, in whatever order control planes ask", () => {
    const requests = fc.array(
      fc.record({ id: fc.constantFrom("a", "b", "c", "d", "e", "f"), wanted: fc.integer({ min: 1, max: 60 }) }),
    );
    fc.assert(
      fc.property(requests, (asked) => {
        const granted = new Map<string, number>();
        for (const { id, wanted } of asked) {
          const all = [...new Set([...granted.keys(), id])].map((each): ShareWanted => {
            const has = granted.get(each);
            return { id: each, wanted: each === id ? wanted : (has ?? 0), granted: has };
          });
          if (wanted <= shareFor(id, all, 100)) granted.set(id, wanted);
        }
        expect([...granted.values()].reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(100);
      }),
    );
  });
});

describe("a user of the shared etcd", () => {
  const text = (encoded = "") => Buffer.from(encoded, "base64").toString();
  const inside = ({ key, range_end }: Permission, name: string) =>
    range_end === undefined ? text(key) === name : text(key) <= name && name < text(range_end);
  const rightsOn = (name: string, sealed: boolean) =>
    permissionsOf("/hcp-a/", sealed)
      .filter((each) => inside(each, name))
      .map(({ permType }) => permType);

  test("may read and write its keys, and only read the policy of its budget", () => {
    const [policy, binding] = policyKeys("/hcp-a/");
    for (const key of ["/hcp-a/registry/pods/a/b", "/hcp-a/causeway.dev/x", `${policy}x`, `${binding}-2`, "/hcp-a/zz"])
      expect(rightsOn(key, false)).toEqual(["READWRITE"]);
    for (const key of [policy, binding]) expect(rightsOn(key, false)).toEqual(["READ"]);
    for (const key of ["/hcp-b/registry/pods/a/b", "/hcp-a", "/hcp-a0"]) expect(rightsOn(key, false)).toEqual([]);
  });

  test("may only read while it is sealed", () => {
    expect(rightsOn("/hcp-a/registry/pods/a/b", true)).toEqual(["READ"]);
  });

  test("has rights changed only where they differ", () => {
    const open = permissionsOf("/hcp-a/", false);
    expect(permissionChanges(open, open)).toEqual({ grant: [], revoke: [] });
    const old: Permission = { permType: "READWRITE", key: open[0]?.key ?? "", range_end: open.at(-1)?.range_end ?? "" };
    expect(permissionChanges([old], open)).toEqual({ grant: open, revoke: [old] });
    expect(permissionChanges(open, permissionsOf("/hcp-a/", true)).grant).toHaveLength(3);
  });

  test("the policy says what is stored, what is allowed, and what to do", () => {
    const [policy] = policyObjects(record("Exceeded", 120), now);
    expect(JSON.stringify(policy)).toContain(
      "this cluster stores 120 MiB, and its budget in the shared etcd is 100 MiB: delete objects",
    );
  });
});

describe("a round of the watchdog", () => {
  const member = (id: string, size: number, inUse: number): MemberStatus => ({
    host: `10.0.0.${id}`,
    id,
    leader: "1",
    size: size * MIB,
    inUse: inUse * MIB,
    revision: 500,
  });
  const observed = (changes: Partial<RoundObserved> = {}): RoundObserved => ({
    members: [member("1", 100, 50), member("2", 100, 50), member("3", 100, 50)],
    expected: 3,
    alarms: [],
    quota: 1024 * MIB,
    tenants: [],
    records: new Map(),
    before: { inUse: 50 * MIB, revision: 400 },
    ...changes,
  });
  const alarms = [{ memberID: "1" }];

  test("does nothing but measure a little while the etcd is quiet", () => {
    expect(planRound(observed())).toEqual({ pressure: false, allowance: 8 * MIB, disarm: [] });
  });

  test("gives up older revisions when the etcd grows, up to those of the round before", () => {
    const grown = observed({ before: { inUse: 20 * MIB, revision: 400 } });
    expect(planRound(grown)).toMatchObject({ pressure: true, compactAt: 400 });
    expect(planRound(observed({ alarms }))).toMatchObject({ pressure: true, compactAt: 500 });
  });

  test("defragments one follower at a time, and the leader last, when another one leads", () => {
    const full = [member("1", 900, 300), member("2", 900, 300), member("3", 900, 300)];
    const next = (members: MemberStatus[], changes = {}) => planRound(observed({ members, ...changes }));
    expect(next(full).defragment?.id).toBe("2");
    const [one, , three] = full as [MemberStatus, MemberStatus, MemberStatus];
    expect(next([one, member("2", 300, 300), three]).defragment?.id).toBe("3");
    const last = next([one, member("2", 300, 300), member("3", 310, 300)]);
    expect([last.defragment, last.moveLeader?.from.id, last.moveLeader?.to.id]).toEqual([undefined, "1", "2"]);
    expect(next([one, three]).defragment).toBeUndefined();
    expect(next([one], { expected: 1 }).defragment?.id).toBe("1");
    expect(next([member("1", 900, 800), member("2", 900, 800), member("3", 900, 800)]).defragment).toBeUndefined();
  });

  test("has the member lead that is restarted last, unless the leader is to be defragmented", () => {
    const next = (leaders: string[], changes: Partial<RoundObserved> = {}) => {
      const { moveLeader } = planRound(observed({ leaders, ...changes }));
      return moveLeader && [moveLeader.from.id, moveLeader.to.id];
    };
    expect(next(["10.0.0.1", "10.0.0.2"])).toBeUndefined();
    expect(next(["10.0.0.3", "10.0.0.1"])).toEqual(["1", "3"]);
    // One that is not reached does not lead.
    const two = [member("1", 100, 50), member("2", 100, 50)];
    expect(next(["10.0.0.3", "10.0.0.2"], { members: two })).toEqual(["1", "2"]);
    const full = [member("1", 900, 300), member("2", 300, 300), member("3", 310, 300)];
    expect(next(["10.0.0.3"], { members: full })).toEqual(["1", "2"]);
  });

  test("disarms the alarm of a full etcd when every member has space again", () => {
    const full = [member("1", 1024, 300), member("2", 300, 300), member("3", 300, 300)];
    expect(planRound(observed({ alarms, members: full })).disarm).toEqual([]);
    expect(planRound(observed({ alarms })).disarm).toEqual(alarms);
  });

  test("measures who writes first, then who is new, and then the others in turn", () => {
    const tenants = ["writer", "new", "exceeded", "old", "fresh"].map((name) => ({ name, budget: 100 * MIB }));
    const records = new Map([
      ["writer", record("Within", 1)],
      ["exceeded", record("Exceeded", 120, { at: now - 20_000 })],
      ["old", record("Within", 1, { at: now - 61_000 })],
      ["fresh", record("Within", 1, { at: now - 1_000 })],
    ]);
    const due = dueTenants({ tenants, records }, new Map([["writer", 10]]), now);
    // Both are due: the one that is overdue for longer comes first.
    expect(due.map(({ name }) => name)).toEqual(["writer", "new", "exceeded", "old"]);
    // A heavy writer that was measured a moment ago does not keep the others from being measured.
    const written = new Map([
      ["fresh", 100],
      ["old", 10],
    ]);
    expect(dueTenants({ tenants, records }, written, now).map(({ name }) => name)[0]).toBe("old");
    const raised = [{ name: "fresh", budget: 200 * MIB }];
    expect(dueTenants({ tenants: raised, records }, new Map(), now)).toEqual(raised);
  });
});
