import { VirtualClock, whenAborted } from "@causeway/foundation";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Leases } from "../testing/leases.ts";
import { membersLabel } from "./membership.ts";
import { createSharedWork } from "./shards.ts";

const settled = async () => {
  for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => setImmediate(resolve));
};
const NAMESPACES = Array.from({ length: 24 }, (_, i) => `tenant-${i}`);

/** Processes that work on every namespace that they own, again and again, each visit `visit` ms long. */
function scene() {
  const clock = new VirtualClock();
  const leases = new Leases();
  /** Who works in a namespace at this moment. */
  const working = new Map<string, Set<string>>();
  const twice: string[] = [];
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds * 2; i++) {
      await clock.advance(500);
      await settled();
    }
  };
  const join = (identity: string, { count = 8, lingering = 0 } = {}) => {
    const stop = new AbortController();
    const crash = new AbortController();
    let cut = false;
    const client = leases.client(() => {
      if (crash.signal.aborted) return new Promise<void>(() => {});
      if (cut) throw new Error("no route to host");
      return undefined;
    });
    const shards = createSharedWork({ client, namespace: "n", name: "capi", identity, count, clock });
    const work = async (namespace: string) => {
      while (!stop.signal.aborted && !crash.signal.aborted) {
        const visit = shards.enter(namespace);
        if (!visit) {
          await clock.sleep(500, AbortSignal.any([stop.signal, crash.signal])).catch(() => {});
          continue;
        }
        const here = working.get(namespace) ?? new Set();
        working.set(namespace, here.add(identity));
        if (here.size > 1) twice.push(`${namespace}: ${[...here].join(", ")}`);
        await whenAborted(AbortSignal.any([visit.signal, crash.signal]));
        if (lingering > 0 && !crash.signal.aborted) await clock.sleep(lingering, crash.signal).catch(() => {});
        here.delete(identity);
        visit.leave();
      }
    };
    for (const namespace of NAMESPACES) void work(namespace);
    const running = shards.run(stop.signal);
    return {
      identity,
      shards,
      owned: () => NAMESPACES.filter((namespace) => shards.owns(namespace)),
      stop: () => stop.abort(),
      /** It ends at once, and nothing of it is released. */
      crash: () => crash.abort(),
      cut: (is: boolean) => {
        cut = is;
      },
      running,
    };
  };
  const workers = () => NAMESPACES.map((namespace) => [...(working.get(namespace) ?? [])].join());
  return { leases, join, pass, twice, workers };
}

describe("work that replicas share", () => {
  test("is all of one process, and of two in parts of one size when another joins", async () => {
    const { join, pass, twice, workers, leases } = scene();
    const a = join("a");
    await pass(4);
    expect(a.owned()).toEqual(NAMESPACES);
    const b = join("b");
    await pass(12);
    expect(new Set([...a.owned(), ...b.owned()]).size).toBe(NAMESPACES.length);
    expect(a.owned().filter((namespace) => b.owned().includes(namespace))).toEqual([]);
    expect(workers().every((who) => who !== "")).toBe(true);
    expect(twice).toEqual([]);
    for (const each of [a, b]) each.stop();
    await pass(1);
    await Promise.all([a.running, b.running]);
    expect([...leases.objects.values()].filter(({ metadata }) => metadata.labels?.[membersLabel])).toEqual([]);
  });

  test("of a process that is killed goes to the others within 40 s", async () => {
    const { join, pass, twice, workers } = scene();
    const [a, b] = [join("a"), join("b")];
    await pass(15);
    b.crash();
    await pass(40);
    expect(a.owned()).toEqual(NAMESPACES);
    expect(workers().every((who) => who === "a")).toBe(true);
    expect(twice).toEqual([]);
    a.stop();
    await pass(1);
    await a.running;
  });

  test("of a process that is cut off ends there before another begins", async () => {
    const { join, pass, twice, workers } = scene();
    const [a, b] = [join("a"), join("b")];
    await pass(15);
    b.cut(true);
    await pass(40);
    expect(b.owned()).toEqual([]);
    expect(workers().every((who) => who === "a")).toBe(true);
    b.cut(false);
    await pass(20);
    expect(b.owned().length).toBeGreaterThan(0);
    expect(twice).toEqual([]);
    for (const each of [a, b]) each.stop();
    await pass(1);
    await Promise.all([a.running, b.running]);
  });

  test("moves only when what is under way has ended", async () => {
    const { join, pass, twice, workers } = scene();
    const a = join("a", { lingering: 20_000 });
    await pass(4);
    const b = join("b");
    await pass(10);
    expect(workers().every((who) => who === "a")).toBe(true);
    await pass(25);
    expect(b.owned().length).toBeGreaterThan(0);
    expect(twice).toEqual([]);
    for (const each of [a, b]) each.stop();
    await pass(25);
    await Promise.all([a.running, b.running]);
  });

  test("begins only after the caches are current, once for shards that come together, and again if that fails", async () => {
    const { join, pass } = scene();
    const a = join("a");
    const prepared: readonly string[][] = [[], []];
    let failures = 2;
    a.shards.beforeWork(() => {
      prepared[0]?.push(a.owned().length === 0 ? "before" : "after");
      return failures-- > 0 ? Promise.reject(new Error("no list")) : Promise.resolve();
    });
    const stop = a.shards.beforeWork(() => Promise.resolve(void prepared[1]?.push("before")));
    expect(a.shards.since("tenant-0")).toBeUndefined();
    await pass(10);
    expect(prepared).toEqual([
      ["before", "before", "before"],
      ["before", "before", "before"],
    ]);
    expect(a.owned()).toEqual(NAMESPACES);
    expect(a.shards.since("tenant-0")).toBeGreaterThan(Date.UTC(2026, 0, 1));
    stop();
    a.stop();
    await pass(1);
    await a.running;
  });

  test("waits while an earlier process works with another number of shards", async () => {
    const { join, pass, twice } = scene();
    const a = join("a", { count: 8 });
    await pass(4);
    const b = join("b", { count: 16 });
    await pass(20);
    expect(a.owned()).toEqual(NAMESPACES);
    expect(b.owned()).toEqual([]);
    a.stop();
    await pass(10);
    await a.running;
    expect(b.owned()).toEqual(NAMESPACES);
    expect(twice).toEqual([]);
    b.stop();
    await pass(1);
    await b.running;
  });

  test("deletes the Lease of a process that ended long ago", async () => {
    const { join, pass, leases } = scene();
    const [a, b] = [join("a"), join("b")];
    await pass(10);
    b.crash();
    await pass(170);
    const members = [...leases.objects.values()].filter(({ metadata }) => metadata.labels?.[membersLabel]);
    expect(members.map(({ spec }) => spec?.holderIdentity)).toEqual(["a"]);
    a.stop();
    await pass(1);
    await a.running;
  });

  test("refuses a number of shards beyond 256", () => {
    const options = { client: new Leases().client(), namespace: "n", name: "capi", identity: "a" };
    for (const count of [0, 257, 1.5]) {
      expect(() => createSharedWork({ ...options, count })).toThrow(
        `The number of shards must be from 1 to 256; it is ${count}.`,
      );
    }
  });

  test("is never done twice, and all done at the end, whatever joins, stops, crashes or is cut off", async () => {
    const step = fc.record({
      what: fc.constantFrom("join", "stop", "crash", "cut", "heal"),
      who: fc.nat(3),
      seconds: fc.integer({ min: 1, max: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        const { join, pass, twice, workers } = scene();
        const live = new Map<number, ReturnType<typeof join>>();
        let born = 0;
        for (const { what, who, seconds } of steps) {
          const one = live.get(who);
          if (what === "join" && !one) live.set(who, join(`p${who}-${born++}`, { lingering: who * 1000 }));
          else if (what === "stop" || what === "crash") {
            one?.[what]();
            live.delete(who);
          } else one?.cut(what === "cut");
          await pass(seconds);
        }
        for (const one of live.values()) one.cut(false);
        live.set(9, join("last"));
        await pass(60);
        expect(twice).toEqual([]);
        expect(workers().filter((who) => who === "")).toEqual([]);
        for (const one of live.values()) one.stop();
        await pass(5);
        await Promise.all([...live.values()].map(({ running }) => running));
      }),
      { numRuns: 4, seed: 20261128 },
    );
  });
});
