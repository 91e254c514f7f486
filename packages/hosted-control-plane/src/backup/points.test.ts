import { VirtualClock } from "@causeway/foundation";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createBackups } from "./backups.ts";
import {
  abandonedData,
  pointId,
  expiredPoints,
  isFull,
  nextPoint,
  parsePoint,
  pointAt,
  pointName,
  type Point,
} from "./points.ts";
import { dataName } from "./take.ts";

const full = (time: number): Point => ({ id: hex(time), time, full: hex(time) });
const change = (time: number, of: number): Point => ({ id: hex(time), time, full: hex(of) });
const hex = (time: number) => time.toString(16).padStart(16, "0");
const schedule = { fullEvery: 100, changesEvery: 10, keep: 250 };

test("a point's name has everything but its data", () => {
  const point = change(1_700_000_000_123, 5);
  expect(parsePoint(pointName("default/web/uid", point))).toEqual(point);
  expect(parsePoint("default/web/uid/points/yesterday")).toBeUndefined();
});

describe("the next backup takes", () => {
  test.each<[string, Point[], Parameters<typeof nextPoint>[1], number, ReturnType<typeof nextPoint>]>([
    ["all data first", [], schedule, 0, { take: "full" }],
    ["nothing before it is due", [full(0)], schedule, 9, { at: 10 }],
    ["the changes when they are due", [full(0)], schedule, 10, { take: "changes" }],
    ["the next changes since the last one", [full(0), change(10, 0)], schedule, 12, { at: 20 }],
    ["all data when it is due", [full(0), change(95, 0)], schedule, 100, { take: "full" }],
    ["all data that is due before the changes", [full(0), change(95, 0)], schedule, 96, { at: 100 }],
    ["all data when it is requested", [full(0)], { ...schedule, requestedAt: 5 }, 6, { take: "full" }],
    ["no second time for one request", [full(6)], { ...schedule, requestedAt: 5 }, 7, { at: 16 }],
    ["what is requested for a time to come, then", [full(0)], { ...schedule, requestedAt: 7 }, 5, { at: 7 }],
    ["nothing for a request of a time to come", [full(0)], { ...schedule, requestedAt: 50 }, 5, { at: 10 }],
  ])("%s", (_, points, given, now, expected) => {
    expect(nextPoint(points, given, now)).toEqual(expected);
  });
});

describe("data of a backup that was never finished", () => {
  const [day, begun] = [24 * 3600_000, Date.UTC(2026, 5, 1)];
  const id = pointId(begun, "89abcdef");
  const names = ["keys", "0"].map((part) => dataName("default/web/uid", id, part));

  test("has the time of its beginning in its name, as that of a point", () => {
    expect(id).toMatch(/^[0-9a-f]{16}$/);
    expect(pointId(begun + 1_000, "89abcdef")).not.toBe(id);
    expect(pointId(begun, "79abcdef")).not.toBe(id);
  });

  test.for<[title: string, points: Point[], after: number, abandoned: boolean]>([
    ["is deleted after a day", [full(1)], day + 1_000, true],
    ["is kept for a day, in which it may be finished", [full(1)], day - 1_000, false],
    ["is kept when it is of a point", [{ id, time: begun, full: id }], 99 * day, false],
  ])("%s", ([, points, after, abandoned]) => {
    expect(abandonedData(names, points, begun + after)).toEqual(abandoned ? names : []);
  });

  test("with an id of before, which has no time, is kept", () => {
    const old = ["0000000001234567", "fedcba9876543210"].map((each) => dataName("default/web/uid", each, "0"));
    expect(abandonedData(old, [], begun)).toEqual([]);
  });

  test("is deleted from the store, and no data of a point with it", async () => {
    const objects = new Set([...names, dataName("f", hex(7), "0"), pointName("f", full(7))]);
    const killed = names.map((name) => name.replace("default/web/uid", "f"));
    for (const name of killed) objects.add(name);
    const backups = createBackups({
      store: {
        description: "memory",
        put: () => Promise.reject(new Error("nothing is written")),
        get: () => Promise.reject(new Error("nothing is read")),
        list: async (prefix) => [...objects].filter((name) => name.startsWith(prefix)),
        delete: async (name) => void objects.delete(name),
      },
      key: new Uint8Array(32),
      clock: new VirtualClock(begun + 2 * day),
    });
    await backups.sweep("f", new AbortController().signal);
    expect([...objects]).toEqual([...names, dataName("f", hex(7), "0"), pointName("f", full(7))]);
  });
});

test("a time means the newest point from then or before, whose full point is there", () => {
  const points = [full(0), change(10, 0), full(100), change(110, 100), change(120, 999)];
  expect(pointAt(points, "f", undefined)).toEqual(change(110, 100));
  expect(pointAt(points, "f", 109)).toEqual(full(100));
  expect(pointAt(points, "f", 99)).toEqual(change(10, 0));
  expect(() => pointAt(points, "f", -1)).toThrow(expect.objectContaining({ code: "BACKUP_POINT_MISSING" }) as Error);
  expect(() => pointAt([], "f", undefined)).toThrow(/f has no backup/);
});

test("over any run, every time within the retention can be restored to, and what is older is deleted", () => {
  const steps = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 30, maxLength: 120 });
  fc.assert(
    fc.property(steps, (waits) => {
      let [now, points, longest]: [number, Point[], number] = [0, [], 0];
      for (const wait of waits) {
        now += wait;
        longest = Math.max(longest, wait);
        const next = nextPoint(points, schedule, now);
        const last = points.at(-1);
        if ("take" in next)
          points.push(next.take === "full" || !last ? full(now) : change(now, Number(`0x${last.full}`)));
        const expired = new Set(expiredPoints(points, schedule, now).map(({ id }) => id));
        points = points.filter(({ id }) => !expired.has(id));
        const oldest = points[0]?.time ?? 0;
        const at = Math.max(now - schedule.keep, waits[0] ?? 0);
        const found = pointAt(points, "f", at);
        expect(at - found.time).toBeLessThanOrEqual(schedule.changesEvery + longest);
        for (const point of points) expect(points.some((each) => isFull(each) && each.id === point.full)).toBe(true);
        expect(now - oldest).toBeLessThanOrEqual(schedule.keep + 2 * schedule.fullEvery + 3 * longest);
      }
    }),
  );
});
