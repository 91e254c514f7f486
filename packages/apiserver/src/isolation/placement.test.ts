import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stateFiles } from "../store/state-files.ts";
import {
  abandoned,
  clustersOf,
  leftovers,
  nearLimitAt,
  NOTHING_PLACED,
  placed,
  readPlacement,
  swept,
  unplaced,
  requestOf,
  writePlacement,
  type Placement,
  type SharedWorkers,
  type WorkerClass,
} from "./placement.ts";

const workers = { initial: 2 };
const place = (
  names: readonly string[],
  initial = 2,
  wanted: WorkerClass = "shared",
  from = NOTHING_PLACED,
): Placement => names.reduce((placement, name) => placed(placement, name, { wanted }, { initial }), from);
/** Placed with controllers where a worker takes `capacity` of them. */
const filled = (names: readonly string[], capacity: number, from = NOTHING_PLACED): Placement =>
  names.reduce((placement, name) => placed(placement, name, { wanted: "shared", capacity }, workers), from);

test("the first clusters get a worker each, later ones share the worker with the fewest", () => {
  const placement = place(["a", "b", "c", "d", "e"]);
  expect(placement.clusters).toEqual({ a: "1", b: "2", c: "1", d: "2", e: "1" });
  expect(placement.workers).toEqual({ 1: "shared", 2: "shared" });
});

test("a cluster that asks for a worker of its own shares it with none, and takes no shared worker away", () => {
  const placement = place(["d", "e"], 2, "shared", place(["c"], 2, "own", place(["a", "b"])));
  expect(placement.workers).toEqual({ 1: "shared", 2: "shared", 3: "own" });
  expect(clustersOf(placement, "3")).toEqual(["c"]);
  expect(clustersOf(placement, "1")).toEqual(["a", "d"]);
});

test("a cluster keeps its worker when it is placed again", () => {
  const placement = place(["a", "b", "c"]);
  expect(placed(placement, "c", { wanted: "own", capacity: 1 }, { initial: 9 })).toBe(placement);
});

test("a removed cluster leaves its shared worker, and takes its own worker with it", () => {
  const placement = place(["c"], 2, "own", place(["a", "b"]));
  expect(unplaced(placement, "a", workers)).toMatchObject({ workers: placement.workers, clusters: { b: "2", c: "3" } });
  const rest = unplaced(placement, "c", workers);
  expect({ workers: rest.workers, clusters: rest.clusters }).toEqual({
    workers: { 1: "shared", 2: "shared" },
    clusters: { a: "1", b: "2" },
  });
  expect(unplaced(placement, "other", workers)).toEqual(placement);
});

test("shared workers differ by one cluster at most while none is removed, and are no more than wanted, whatever comes and goes", () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,5}$/), { maxLength: 40 });
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 5 }), (all, initial) => {
      const placement = place(all, initial);
      const sizes = Object.keys(placement.workers).map((worker) => clustersOf(placement, worker).length);
      expect(sizes.length).toBe(Math.min(initial, all.length));
      expect(Math.max(0, ...sizes) - Math.min(...sizes, Math.max(0, ...sizes))).toBeLessThanOrEqual(1);
      expect(Object.keys(placement.clusters).toSorted()).toEqual(all.toSorted());
    }),
  );
});

test("a further shared worker is started when each has as many clusters as it takes, and the least loaded is next", () => {
  const placement = filled(["a", "b", "c", "d", "e", "f"], 2);
  expect(placement.clusters).toEqual({ a: "1", b: "2", c: "1", d: "2", e: "3", f: "3" });
  expect(filled(["g"], 2, unplaced(placement, "b", workers)).clusters).toMatchObject({ g: "2" });
});

test("a cluster without controllers is added to a worker that takes no more with them, and counts there", () => {
  const placement = place(["e"], 2, "shared", filled(["a", "b", "c", "d"], 2));
  expect(placement.clusters).toMatchObject({ e: "1" });
  expect(filled(["f"], 3, placement).clusters).toMatchObject({ f: "2" });
});

describe("of shared workers", () => {
  const placement = place(["own"], 2, "own", place(["a", "b", "c"]));
  const add = (facts: Partial<SharedWorkers>, capacity?: number): string | undefined =>
    placed(
      placement,
      "d",
      { wanted: "shared", ...(capacity === undefined ? {} : { capacity }) },
      { ...workers, ...facts },
    ).clusters["d"];
  const set = (...names: string[]): ReadonlySet<string> => new Set(names);
  test.each<[string, string, Partial<SharedWorkers>, number?]>([
    ["the one with the fewest clusters is chosen", "2", {}],
    ["none that is near its limit is chosen", "1", { closed: set("2") }],
    ["a further one is started where all are near their limit", "4", { closed: set("1", "2") }],
    ["a further one is started where all are full", "4", {}, 1],
    ["a further one is started where one is near its limit and the other full", "4", { closed: set("2") }, 2],
    ["no further one is started beyond the largest number", "2", { closed: set("1", "2"), largest: 2 }],
    ["no further one is started beyond the largest number, full or not", "2", { largest: 2 }, 1],
    ["a full one comes before one near its limit", "1", { closed: set("2"), largest: 2 }, 1],
    ["a full one that serves comes before one that fails", "1", { failing: set("2"), largest: 2 }, 1],
    [
      "one near its limit that serves comes before one that fails",
      "1",
      { closed: set("1", "2"), failing: set("2"), largest: 2 },
    ],
    ["one that fails comes after others", "1", { failing: set("2") }],
    ["one that fails is chosen before a further one is started", "2", { failing: set("1", "2") }],
    ["one that fails is chosen where the others are near their limit", "2", { failing: set("2"), closed: set("1") }],
  ])("%s", (_, expected, facts, capacity) => {
    expect(add(facts, capacity)).toBe(expected);
  });
});

test("further shared workers go when they are empty, but for one; the first ones remain", () => {
  const all = ["a", "b", "c", "d", "e", "f", "g"];
  fc.assert(
    fc.property(
      fc.shuffledSubarray(all, { minLength: all.length }),
      fc.integer({ min: 1, max: 4 }),
      (order, capacity) => {
        let placement = filled(all, capacity);
        expect(Object.keys(placement.workers)).toHaveLength(Math.max(2, Math.ceil(all.length / capacity)));
        for (const name of order) {
          placement = unplaced(placement, name, workers);
          const used = new Set(Object.values(placement.clusters));
          const known = Object.keys(placement.workers);
          expect(used.difference(new Set(known))).toEqual(new Set());
          expect(known.length).toBeGreaterThanOrEqual(2);
          expect(known.length - used.size).toBeLessThanOrEqual(Math.max(1, 2 - used.size));
        }
        expect(Object.keys(placement.workers)).toHaveLength(2);
      },
    ),
  );
});

test("a cluster that is created and deleted again and again starts no worker each time", () => {
  let placement = filled(["a", "b"], 1);
  for (const name of ["c", "d", "e"]) {
    placement = filled([name], 1, placement);
    expect(placement.clusters[name]).toBe("3");
    placement = unplaced(placement, name, workers);
  }
});

test("a worker takes as many clusters with controllers as its limits of heap and of memory have room for", () => {
  const limits = { heap: 768, resident: 1280 };
  expect(requestOf({}, limits)).toEqual({ wanted: "shared" });
  expect(requestOf({ worker: "own", controllers: true }, limits)).toEqual({ wanted: "own", capacity: 106 });
  expect(requestOf({ controllers: true }, { heap: 70, resident: 1280 })).toEqual({ wanted: "shared", capacity: 10 });
  expect(requestOf({ controllers: true }, { heap: 4, resident: 4 })).toEqual({ wanted: "shared", capacity: 1 });
});

test("a worker that has as many clusters of three nodes as fit is not near its limit yet, and one with half more is", () => {
  const limits = { heap: 768, resident: 1280 };
  const resident = (clusters: number): number => 105 + 5.5 * clusters;
  const { capacity = 0 } = requestOf({ controllers: true }, limits);
  expect(resident(capacity)).toBeLessThan(nearLimitAt(limits));
  expect(resident(1.5 * capacity)).toBeGreaterThan(nearLimitAt(limits));
  expect(nearLimitAt({ heap: 768, resident: 400 })).toBe(320);
});

test("the folder name of a worker is never used again", () => {
  const before = unplaced(place(["c"], 2, "own", place(["a", "b"])), "c", workers);
  const placement = place(["d"], 2, "own", before);
  expect(placement.clusters).toEqual({ a: "1", b: "2", d: "4" });
  expect(leftovers(placement, ["1", "2", "3", "4", "5", "placement.json", "3x"])).toEqual(["3"]);
});

test("a placement of an earlier version names its next worker after the highest", () => {
  const files = stateFiles(undefined);
  files.write(
    "workers/placement.json",
    '{"version":1,"workers":{"1":"shared","7":"own"},"clusters":{"a":"1","b":"7"}}',
  );
  expect(readPlacement(files)).toMatchObject({ next: 8, removed: {} });
});

test("a cluster that its worker cannot remove is remembered for it, and takes along a worker that has no other", () => {
  const placement = place(["a", "b"], 1);
  const without = abandoned(placement, "a", workers);
  expect(without).toMatchObject({ workers: { 1: "shared" }, clusters: { b: "1" }, removed: { 1: ["a"] } });
  expect(swept(without, "1")).toMatchObject({ removed: {} });
  expect(swept(placement, "1")).toBe(placement);
  expect(abandoned(without, "b", workers)).toEqual({ workers: {}, clusters: {}, next: 2, removed: {} });
  expect(abandoned(place(["c"], 2, "own"), "c", workers)).toEqual({ workers: {}, clusters: {}, next: 2, removed: {} });
});

test("the record of a placement is read as it was written", () => {
  const files = stateFiles(undefined);
  expect(readPlacement(files)).toBeUndefined();
  const placement = abandoned(place(["c", "d", "e"], 2, "own", place(["a", "b", "f"])), "a", workers);
  writePlacement(files, placement);
  expect(readPlacement(files)).toEqual(placement);
});
