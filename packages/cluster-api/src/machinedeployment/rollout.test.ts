import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { onDelete, proportional, resolveCount, rollingUpdate, type SetCount } from "./rollout.ts";

const set = (name: string, replicas: number, available = replicas): SetCount => ({
  name,
  replicas,
  available,
  machines: replicas,
  present: replicas,
});

describe("a rolling update", () => {
  const limits = { desired: 3, maxSurge: 1, maxUnavailable: 0 };
  test.each([
    ["starts with one machine more", set("new", 0), [set("old", 3)], { new: 1 }],
    ["waits until the new machine serves", set("new", 1, 0), [set("old", 3)], {}],
    ["takes an old machine away once the new one serves", set("new", 1), [set("old", 3)], { old: 2 }],
    [
      "first removes machines that are not available",
      set("new", 1),
      [set("broken", 1, 0), set("old", 3)],
      { broken: 0, old: 2 },
    ],
    [
      "makes no other machine while an old one is on its way out",
      set("new", 1),
      [{ ...set("old", 2), present: 3 }],
      {},
    ],
    ["continues once it is gone", set("new", 1), [set("old", 2)], { new: 2 }],
    ["is through when none is left", set("new", 3), [set("old", 0)], {}],
    ["shrinks to what is requested", set("new", 5), [], { new: 3 }],
    ["grows at once without old machines", set("new", 0), [], { new: 3 }],
  ])("%s", (_, fresh, old, moves) => {
    expect(Object.fromEntries(rollingUpdate({ ...limits, fresh, old }))).toEqual(moves);
  });

  test("takes the oldest set first", () => {
    const moves = rollingUpdate({ ...limits, fresh: set("new", 2), old: [set("older", 1), set("old", 1)] });
    expect(Object.fromEntries(moves)).toEqual({ older: 0 });
  });
});

/** Runs a rollout: machines become available at random moments; returns the moments in between. */
function simulate(start: {
  desired: number;
  maxSurge: number;
  maxUnavailable: number;
  old: readonly number[];
  luck: readonly boolean[];
}) {
  const { desired, maxSurge, maxUnavailable, luck } = start;
  let fresh = set("new", 0);
  let old = start.old.map((replicas, i) => set(`old-${i}`, replicas));
  const moments: { total: number; available: number }[] = [];
  for (let round = 0; round < 300; round++) {
    const moves = rollingUpdate({ desired, maxSurge, maxUnavailable, fresh, old });
    const move = (s: SetCount): SetCount => {
      const replicas = moves.get(s.name) ?? s.replicas;
      return { ...s, replicas, machines: replicas, available: Math.min(s.available, replicas) };
    };
    fresh = move(fresh);
    fresh = { ...fresh, present: fresh.replicas };
    // Drains take their time: one of them ends, at random.
    const isDrained = luck[(round + 1) % luck.length] ?? true;
    const draining = old.findIndex((s) => s.present > s.replicas);
    old = old.map(move).map((s, i) => (isDrained && i === draining ? { ...s, present: s.present - 1 } : s));
    if (luck[round % luck.length] && fresh.available < fresh.replicas)
      fresh = { ...fresh, available: fresh.available + 1 };
    const all = [fresh, ...old];
    moments.push({
      total: all.reduce((n, s) => n + s.present, 0),
      available: all.reduce((n, s) => n + s.available, 0),
    });
  }
  return { moments, fresh, old };
}

describe("at each moment of a rollout", () => {
  const runs = fc
    .record({
      desired: fc.integer({ min: 0, max: 12 }),
      maxSurge: fc.integer({ min: 0, max: 5 }),
      maxUnavailable: fc.integer({ min: 0, max: 5 }),
      parts: fc.integer({ min: 1, max: 3 }),
      luck: fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }).map((list) => [...list, true]),
    })
    .filter(({ maxSurge, maxUnavailable }) => maxSurge + maxUnavailable > 0)
    .map(({ parts, ...rest }) => ({
      ...rest,
      old: Array.from({ length: parts }, (_, i) => Math.floor((rest.desired + i) / parts)),
    }));

  test("there are never more machines than desired + maxSurge", () => {
    fc.assert(
      fc.property(runs, (run) => simulate(run).moments.every(({ total }) => total <= run.desired + run.maxSurge)),
    );
  });
  test("at least desired - maxUnavailable remain available", () => {
    fc.assert(
      fc.property(runs, (run) =>
        simulate(run).moments.every(({ available }) => available >= run.desired - run.maxUnavailable),
      ),
    );
  });
  test("the rollout can still end with the new machines alone", () => {
    fc.assert(
      fc.property(runs, (run) => {
        const { fresh, old } = simulate(run);
        return fresh.replicas === run.desired && old.every(({ replicas }) => replicas === 0);
      }),
    );
  });
});

describe("OnDelete", () => {
  test("changes nothing by itself", () => {
    expect([...onDelete({ desired: 3, fresh: set("new", 0), old: [set("old", 3)] })]).toEqual([]);
  });
  test("puts a new machine in the place of each that was deleted", () => {
    const old = [{ name: "old", replicas: 3, available: 2, machines: 2, present: 3 }];
    expect(Object.fromEntries(onDelete({ desired: 3, fresh: set("new", 0), old }))).toEqual({ old: 2, new: 1 });
  });
  test("shrinks old sets when fewer are requested", () => {
    expect(Object.fromEntries(onDelete({ desired: 1, fresh: set("new", 1), old: [set("old", 3)] }))).toEqual({
      old: 1,
      new: 0,
    });
  });
});

describe("scaling while paused", () => {
  test.each([
    [[4, 2], 9, [6, 3]],
    [[4, 2], 3, [2, 1]],
    [[2, 1], 4, [3, 1]],
  ])("%j to %i is %j", (before, desired, after) => {
    const sets = before.map((replicas, i) => set(`s${i}`, replicas));
    const moves = proportional(sets, desired);
    expect(sets.map(({ name, replicas }) => moves.get(name) ?? replicas)).toEqual(after);
  });
  test("always reaches the requested number", () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 0, max: 50 }), (before, desired) => {
        const sets = before.map((replicas, i) => set(`s${i}`, replicas));
        const moves = proportional(sets, desired);
        return sets.reduce((n, s) => n + (moves.get(s.name) ?? s.replicas), 0) === desired;
      }),
    );
  });
});

test.each([
  ["a number", 2, 2],
  ["a percentage of a surge, rounded up", "25%", 3],
  ["nothing", undefined, undefined],
  ["nonsense", "many", undefined],
])("a limit of a rollout is read as %s of ten machines", (_, value, count) =>
  expect(resolveCount(value, 10, "up")).toBe(count),
);
test("a percentage of unavailable machines is rounded down", () => expect(resolveCount("25%", 10, "down")).toBe(2));
