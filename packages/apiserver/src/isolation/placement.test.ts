import fc from "fast-check";
import { expect, test } from "vitest";
import { stateFiles } from "../store/state-files.ts";
import {
  abandoned,
  clustersOf,
  leftovers,
  NOTHING_PLACED,
  placed,
  readPlacement,
  swept,
  unplaced,
  requestOf,
  writePlacement,
  type Placement,
  type WorkerClass,
} from "./placement.ts";

const room = { most: 2 };
const place = (names: readonly string[], most = 2, wanted: WorkerClass = "shared", from = NOTHING_PLACED): Placement =>
  names.reduce((placement, name) => placed(placement, name, { wanted }, { most }), from);
/** Placed with controllers where a worker takes `full` of them. */
const filled = (names: readonly string[], full: number, from = NOTHING_PLACED): Placement =>
  names.reduce((placement, name) => placed(placement, name, { wanted: "shared", full }, room), from);

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
  expect(placed(placement, "c", { wanted: "own", full: 1 }, { most: 9 })).toBe(placement);
});

test("a removed cluster leaves its shared worker, and takes its own worker with it", () => {
  const placement = place(["c"], 2, "own", place(["a", "b"]));
  expect(unplaced(placement, "a", room)).toMatchObject({ workers: placement.workers, clusters: { b: "2", c: "3" } });
  const { workers, clusters } = unplaced(placement, "c", room);
  expect({ workers, clusters }).toEqual({ workers: { 1: "shared", 2: "shared" }, clusters: { a: "1", b: "2" } });
  expect(unplaced(placement, "other", room)).toEqual(placement);
});

test("shared workers differ by one cluster at most while none is removed, and are no more than wanted, whatever comes and goes", () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,5}$/), { maxLength: 40 });
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 5 }), (all, most) => {
      const placement = place(all, most);
      const sizes = Object.keys(placement.workers).map((worker) => clustersOf(placement, worker).length);
      expect(sizes.length).toBe(Math.min(most, all.length));
      expect(Math.max(0, ...sizes) - Math.min(...sizes, Math.max(0, ...sizes))).toBeLessThanOrEqual(1);
      expect(Object.keys(placement.clusters).toSorted()).toEqual(all.toSorted());
    }),
  );
});

test("a further shared worker is started when each has as many clusters as it takes, and the least loaded is next", () => {
  const placement = filled(["a", "b", "c", "d", "e", "f"], 2);
  expect(placement.clusters).toEqual({ a: "1", b: "2", c: "1", d: "2", e: "3", f: "3" });
  expect(filled(["g"], 2, unplaced(placement, "b", room)).clusters).toMatchObject({ g: "2" });
});

test("a cluster without controllers is added to a worker that takes no more with them, and counts there", () => {
  const placement = place(["e"], 2, "shared", filled(["a", "b", "c", "d"], 2));
  expect(placement.clusters).toMatchObject({ e: "1" });
  expect(filled(["f"], 3, placement).clusters).toMatchObject({ f: "2" });
});

test("no cluster is added to a shared worker that is short of memory", () => {
  const placement = place(["own"], 2, "own", place(["a", "b", "c"]));
  const add = (...crowded: string[]): unknown =>
    placed(placement, "d", { wanted: "shared" }, { ...room, crowded: new Set(crowded) }).clusters["d"];
  expect(add()).toBe("2");
  expect(add("2")).toBe("1");
  expect(add("1", "2")).toBe("4");
});

test("a further shared worker goes with its last cluster, in any order, and the first ones remain", () => {
  const all = ["a", "b", "c", "d", "e", "f", "g"];
  fc.assert(
    fc.property(fc.shuffledSubarray(all, { minLength: all.length }), fc.integer({ min: 1, max: 4 }), (order, full) => {
      let placement = filled(all, full);
      expect(Object.keys(placement.workers)).toHaveLength(Math.max(2, Math.ceil(all.length / full)));
      for (const name of order) {
        placement = unplaced(placement, name, room);
        const used = new Set(Object.values(placement.clusters));
        expect(used.difference(new Set(Object.keys(placement.workers)))).toEqual(new Set());
        expect(Object.keys(placement.workers).length).toBeGreaterThanOrEqual(2);
        expect(Object.keys(placement.workers).length).toBeLessThanOrEqual(Math.max(2, used.size + 2));
      }
      expect(Object.keys(placement.workers)).toHaveLength(2);
    }),
  );
});

test("a worker takes as many clusters with controllers as its limits of heap and of memory have room for", () => {
  const limits = { heap: 768, resident: 1280 };
  expect(requestOf({}, limits)).toEqual({ wanted: "shared" });
  expect(requestOf({ worker: "own", controllers: true }, limits)).toEqual({ wanted: "own", full: 106 });
  expect(requestOf({ controllers: true }, { heap: 70, resident: 1280 })).toEqual({ wanted: "shared", full: 10 });
  expect(requestOf({ controllers: true }, { heap: 4, resident: 4 })).toEqual({ wanted: "shared", full: 1 });
});

test("the folder name of a worker is never used again", () => {
  const before = unplaced(place(["c"], 2, "own", place(["a", "b"])), "c", room);
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
  const without = abandoned(placement, "a", room);
  expect(without).toMatchObject({ workers: { 1: "shared" }, clusters: { b: "1" }, removed: { 1: ["a"] } });
  expect(swept(without, "1")).toMatchObject({ removed: {} });
  expect(swept(placement, "1")).toBe(placement);
  expect(abandoned(without, "b", room)).toEqual({ workers: {}, clusters: {}, next: 2, removed: {} });
  expect(abandoned(place(["c"], 2, "own"), "c", room)).toEqual({ workers: {}, clusters: {}, next: 2, removed: {} });
});

test("the record of a placement is read as it was written", () => {
  const files = stateFiles(undefined);
  expect(readPlacement(files)).toBeUndefined();
  const placement = abandoned(place(["c", "d", "e"], 2, "own", place(["a", "b", "f"])), "a", room);
  writePlacement(files, placement);
  expect(readPlacement(files)).toEqual(placement);
});
