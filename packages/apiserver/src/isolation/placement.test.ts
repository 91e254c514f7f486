import fc from "fast-check";
import { expect, test } from "vitest";
import { stateFiles } from "../clusters/state-files.ts";
import {
  clustersOf,
  NOTHING_PLACED,
  placed,
  readPlacement,
  unplaced,
  writePlacement,
  type Placement,
  type WorkerClass,
} from "./placement.ts";

const place = (names: readonly string[], most = 2, wanted: WorkerClass = "shared", from = NOTHING_PLACED): Placement =>
  names.reduce((placement, name) => placed(placement, name, { most, wanted }), from);

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
  expect(placed(placement, "c", { most: 9, wanted: "own" })).toBe(placement);
});

test("a removed cluster leaves its shared worker, and takes its own worker with it", () => {
  const placement = place(["c"], 2, "own", place(["a", "b"]));
  expect(unplaced(placement, "a")).toEqual({ workers: placement.workers, clusters: { b: "2", c: "3" } });
  expect(unplaced(placement, "c")).toEqual({ workers: { 1: "shared", 2: "shared" }, clusters: { a: "1", b: "2" } });
  expect(unplaced(placement, "other")).toEqual(placement);
});

test("whatever comes and goes, shared workers differ by one cluster at most while none is removed, and are no more than wanted", () => {
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

test("what is written is what is read", () => {
  const files = stateFiles(undefined);
  expect(readPlacement(files)).toBeUndefined();
  const placement = place(["c"], 2, "own", place(["a", "b"]));
  writePlacement(files, placement);
  expect(readPlacement(files)).toEqual(placement);
});
