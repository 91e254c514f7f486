import { CausewayError, silentLog, VirtualClock } from "@causeway/foundation";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PollingInformer, type WatchedType } from "./informer.ts";
import type { CloudChange } from "./interface.ts";
import { until } from "./until.ts";

interface Thing {
  id: string;
  name: string;
  status: string;
  tags?: string[];
  updated_at?: string;
  description?: string;
}

const things: WatchedType<Thing> = {
  name: "things",
  indexes: { name: (t) => [t.name], tag: (t) => t.tags ?? [] },
  inTransition: (t) => t.status.startsWith("PENDING"),
  deleting: (t) => t.status === "PENDING_DELETE",
  hardlyChanges: false,
};

const thing = (id: string, rest: Partial<Thing> = {}): Thing => ({ id, name: `n-${id}`, status: "ACTIVE", ...rest });
const settle = async () => {
  for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => setImmediate(resolve));
};

/** An informer on a list that the test writes, and that responds at once or on demand. */
function setUp(type: WatchedType<Thing> = things) {
  const clock = new VirtualClock();
  const world = {
    objects: [] as Thing[],
    polls: 0,
    failure: undefined as Error | undefined,
    held: undefined as Promise<void> | undefined,
  };
  const list = async (): Promise<Thing[]> => {
    world.polls++;
    const seen = world.objects.map((o) => ({ ...o }));
    const failure = world.failure;
    await world.held;
    if (failure) throw failure;
    return seen;
  };
  const informer = new PollingInformer<Thing>({ type, list, clock, log: silentLog, intervals: {} });
  const changes: string[] = [];
  informer.onChange(({ type: kind, object }: CloudChange<Thing>) =>
    changes.push(`${kind} ${object.id} ${object.status}`),
  );
  const pass = async (milliseconds: number) => {
    await settle();
    await clock.advance(milliseconds);
    await settle();
  };
  return { clock, world, informer, changes, pass };
}

describe("an informer", () => {
  it("sends no request before it is started, and one for all callers that start it", async () => {
    const { informer, world } = setUp();
    await settle();
    expect([world.polls, informer.synced]).toEqual([0, false]);
    await Promise.all([informer.start(), informer.start()]);
    expect([world.polls, informer.synced]).toEqual([1, true]);
    await informer.close();
  });

  it("emits added, changed and deleted objects, and nothing else", async () => {
    const { informer, world, changes, pass } = setUp();
    world.objects = [thing("a", { tags: ["x", "y"] }), thing("b")];
    await informer.start();
    await pass(60_000);
    expect(changes).toEqual(["added a ACTIVE", "added b ACTIVE"]);
    changes.length = 0;
    world.objects = [
      thing("a", { tags: ["y", "x"], updated_at: "later" }),
      thing("b", { status: "ERROR" }),
      thing("c"),
    ];
    await pass(60_000);
    expect(changes).toEqual(["updated b ERROR", "added c ACTIVE"]);
    expect(informer.get("a")?.updated_at).toBe("later");
    world.objects = [];
    changes.length = 0;
    await pass(60_000);
    expect(changes.length).toBe(3);
    expect(informer.list()).toEqual([]);
    await informer.close();
  });

  it("costs one call a minute while nothing changes, however many objects there are", async () => {
    const { informer, world, pass } = setUp();
    world.objects = Array.from({ length: 500 }, (_, i) => thing(`t-${i}`));
    await informer.start();
    await pass(600_000);
    expect(world.polls).toBe(11);
    await informer.close();
  });

  it("polls fast while something is in transition, and slower the longer it lasts", async () => {
    const { informer, world, pass } = setUp();
    world.objects = [thing("a", { status: "PENDING_CREATE" })];
    await informer.start();
    await pass(4_900);
    expect(world.polls).toBe(15);
    await pass(3_600_000);
    const before = world.polls;
    await pass(600_000);
    expect(world.polls - before).toBeLessThanOrEqual(10);
    world.objects = [thing("a")];
    await pass(60_000);
    expect(informer.get("a")?.status).toBe("ACTIVE");
    await informer.close();
  });

  it("polls fast after hurry, for half a minute or the given time", async () => {
    const { informer, world, clock, pass } = setUp();
    await informer.start();
    await pass(10_000);
    informer.hurry();
    await pass(1_000);
    expect(world.polls).toBeGreaterThanOrEqual(4);
    await pass(60_000);
    const still = world.polls;
    await pass(50_000);
    expect(world.polls - still).toBeLessThanOrEqual(1);
    informer.hurry(clock.now() + 2_000);
    const before = world.polls;
    await pass(50_000);
    expect(world.polls - before).toBeLessThanOrEqual(11);
    await informer.close();
  });

  it("shows an observed write at once, and an older list does not undo it", async () => {
    const { informer, world, changes } = setUp();
    world.objects = [thing("b")];
    await informer.start();
    changes.length = 0;
    let release = () => {};
    world.held = new Promise((resolve) => (release = resolve));
    const refreshed = informer.refresh();
    await settle();
    informer.observe(thing("a", { status: "NEW" }));
    informer.observe(thing("b", { status: "CHANGED" }));
    release();
    world.held = undefined;
    await refreshed;
    expect(
      informer
        .list()
        .map((t) => t.status)
        .sort(),
    ).toEqual(["CHANGED", "NEW"]);
    world.objects = [thing("b", { status: "CHANGED" })];
    await informer.refresh();
    expect(informer.get("a")).toBeUndefined();
    expect(changes).toEqual(["added a NEW", "updated b CHANGED", "deleted a NEW"]);
    await informer.close();
  });

  it("forgets at once, and an older list does not bring it back", async () => {
    const { informer, world } = setUp();
    world.objects = [thing("a")];
    await informer.start();
    let release = () => {};
    world.held = new Promise((resolve) => (release = resolve));
    const refreshed = informer.refresh();
    await settle();
    informer.forget("a");
    release();
    world.held = undefined;
    await refreshed;
    expect(informer.get("a")).toBeUndefined();
    await informer.refresh();
    expect(informer.get("a")?.status).toBe("ACTIVE");
    await informer.close();
  });

  it("hides forgotten objects while their deletion is in progress, polling fast, and restores those that remain", async () => {
    const { informer, world, changes, pass } = setUp();
    world.objects = [thing("a")];
    await informer.start();
    informer.forget("a");
    world.objects = [thing("a", { status: "PENDING_DELETE" })];
    await informer.refresh();
    const before = world.polls;
    await pass(2_000);
    expect(world.polls - before).toBeGreaterThanOrEqual(7);
    expect(changes).toEqual(["added a ACTIVE", "deleted a ACTIVE"]);
    world.objects = [thing("a", { status: "ERROR" })];
    await pass(2_000);
    expect(changes.at(-1)).toBe("added a ERROR");
    await informer.close();
  });

  it("refreshes with one list that begins after the call, for all concurrent callers", async () => {
    const { informer, world } = setUp();
    await informer.start();
    let release = () => {};
    world.held = new Promise((resolve) => (release = resolve));
    const first = informer.refresh();
    await settle();
    world.objects = [thing("late")];
    const later = [informer.refresh(), informer.refresh(), informer.refresh()];
    release();
    world.held = undefined;
    await first;
    expect(informer.get("late")).toBeUndefined();
    await Promise.all(later);
    expect(informer.get("late")).toBeDefined();
    expect(world.polls).toBe(3);
    await informer.close();
  });

  it("polls less and less often while lists fail, and keeps its objects", async () => {
    const { informer, world, pass } = setUp();
    world.objects = [thing("a")];
    await informer.start();
    world.failure = new CausewayError("OPENSTACK_UNAVAILABLE", "down");
    await pass(3_600_000);
    expect(world.polls).toBeLessThan(140);
    expect(informer.get("a")).toBeDefined();
    await expect(informer.refresh()).rejects.toThrow("down");
    world.failure = undefined;
    await informer.refresh();
    expect(informer.get("a")).toBeDefined();
    await informer.close();
  });

  it("starts although a service is unavailable for a while, but fails on wrong credentials", async () => {
    const { informer, world, pass } = setUp();
    world.failure = new CausewayError("OPENSTACK_UNAVAILABLE", "down");
    const started = informer.start();
    await pass(5_000);
    world.failure = undefined;
    await pass(20_000);
    await started;
    await informer.close();
    const other = setUp();
    other.world.failure = new CausewayError("OPENSTACK_UNAUTHORIZED", "wrong");
    await expect(other.informer.start()).rejects.toThrow("wrong");
    other.world.failure = undefined;
    await other.pass(60_000);
    expect(other.informer.synced).toBe(true);
    await other.informer.close();
  });

  it("continues when a handler fails, and does not call removed handlers", async () => {
    const { informer, world, changes } = setUp();
    informer.onChange(() => {
      throw new Error("bad handler");
    });
    const left: string[] = [];
    informer.onChange(({ object }) => left.push(object.id))();
    world.objects = [thing("a")];
    await informer.start();
    expect([changes, left]).toEqual([["added a ACTIVE"], []]);
    await informer.close();
  });

  it("rejects waiting callers when it is closed", async () => {
    const { informer, world } = setUp();
    world.failure = new CausewayError("OPENSTACK_UNAVAILABLE", "down");
    const started = informer.start();
    await settle();
    await informer.close();
    await expect(started).rejects.toMatchObject({ code: "CLOUD_CLOSED" });
    await expect(informer.refresh()).rejects.toMatchObject({ code: "CLOUD_CLOSED" });
  });

  it("has indexes that agree with a full search after any changes", async () => {
    const states = fc.array(
      fc.uniqueArray(
        fc.record({
          id: fc.constantFrom("a", "b", "c", "d"),
          name: fc.constantFrom("x", "y"),
          status: fc.constantFrom("ACTIVE", "ERROR"),
          tags: fc.uniqueArray(fc.constantFrom("t1", "t2")),
        }),
        { selector: (t) => t.id },
      ),
      { maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(states, async (history) => {
        const { informer, world } = setUp();
        for (const objects of history) {
          world.objects = objects;
          await informer.refresh();
          expect([...informer.list()].sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
            [...objects].sort((a, b) => (a.id < b.id ? -1 : 1)),
          );
          for (const name of ["x", "y"]) {
            const ids = informer
              .byIndex("name", name)
              .map((t) => t.id)
              .sort();
            expect(ids).toEqual(
              objects
                .filter((o) => o.name === name)
                .map((o) => o.id)
                .sort(),
            );
          }
          for (const tag of ["t1", "t2"] as const) {
            const ids = informer
              .byIndex("tag", tag)
              .map((t) => t.id)
              .sort();
            expect(ids).toEqual(
              objects
                .filter((o) => o.tags.includes(tag))
                .map((o) => o.id)
                .sort(),
            );
          }
        }
        await informer.close();
      }),
      { numRuns: 50 },
    );
  });

  it("throws when an unknown index is requested", () => {
    expect(() => setUp().informer.byIndex("colour", "red")).toThrow("colour");
  });
});

describe("until of an informer", () => {
  it("waits for one object, polling fast meanwhile", async () => {
    const { informer, world, clock, pass } = setUp();
    const result = until(informer, "a", (t) => t?.status === "ACTIVE", { clock });
    await pass(3_000);
    world.objects = [thing("a")];
    await pass(1_000);
    expect(await result).toMatchObject({ id: "a" });
    world.objects = [];
    const gone = until(informer, "a", (t) => t === undefined, { clock });
    await pass(1_000);
    expect(await gone).toBeUndefined();
    await informer.close();
  });
  it("gives up at its timeout", async () => {
    const { informer, clock, pass } = setUp();
    const result = until(informer, "a", (t) => t !== undefined, { clock, timeout: 40_000 });
    const settled = result.catch((error: unknown) => error);
    for (let i = 0; i < 50; i++) await pass(1_000);
    expect(await settled).toMatchObject({ code: "OPENSTACK_WAIT_TIMEOUT" });
    await informer.close();
  });
  it("ends when it is aborted", async () => {
    const { informer, clock, pass } = setUp();
    const controller = new AbortController();
    const result = until(informer, "a", (t) => t !== undefined, { clock, signal: controller.signal });
    await pass(100);
    controller.abort(new Error("enough"));
    await expect(result).rejects.toThrow("enough");
    await informer.close();
  });
});

describe("a transition whose length is known", () => {
  const timed: WatchedType<Thing> = { ...things, transition: (t) => ({ kind: t.status, size: t.tags?.length ?? 1 }) };

  it("is polled when it is likely to have finished: a tenth of the polls, and its end is seen as soon", async () => {
    const { informer, world, clock, changes, pass } = setUp(timed);
    world.objects = [thing("a")];
    await informer.start();
    const cycle = async (length: number) => {
      const polls = world.polls;
      changes.length = 0;
      const begun = clock.now();
      // A write's response may have more than a list has: that is no new transition.
      informer.observe(thing("a", { status: "PENDING_UPDATE", description: "set by the response" }));
      world.objects = [thing("a", { status: "PENDING_UPDATE" })];
      let seen = 0;
      for (let at = 50; seen === 0; at += 50) {
        if (at > length) world.objects = [thing("a")];
        await pass(50);
        if (changes.at(-1) === "updated a ACTIVE") seen = clock.now() - begun;
      }
      return { polls: world.polls - polls, seen };
    };
    const first = await cycle(10_000);
    expect(first.polls).toBeGreaterThan(10);
    const later = [];
    for (let i = 0; i < 20; i++) later.push(await cycle(10_000));
    expect(later.reduce((sum, { polls }) => sum + polls, 0) / later.length).toBeLessThan(2.5);
    expect(Math.max(...later.slice(10).map(({ seen }) => seen))).toBeLessThan(11_500);
    await informer.close();
  });

  it("costs few polls however long it is, of a size that was never seen", async () => {
    const { informer, world, clock, changes, pass } = setUp(timed);
    world.objects = [thing("a")];
    await informer.start();
    const one = async (size: number, length: number) => {
      const polls = world.polls;
      const [tags, begun] = [Array.from({ length: size }, (_, i) => `${i}`), clock.now()];
      informer.observe(thing("a", { status: "PENDING_CREATE", tags }));
      changes.length = 0;
      for (let now = 0; changes.at(-1) !== "updated a ACTIVE"; now += 100) {
        world.objects = [thing("a", now < length ? { status: "PENDING_CREATE", tags } : {})];
        await pass(100);
      }
      return [world.polls - polls, clock.now() - begun];
    };
    // Of the kind nothing is known: whenever it is a fifth older, or an eighth.
    expect(await one(1, 20_400)).toEqual([29, 21_500]);
    // As long as the small one? As long as ten of it? Between, whenever it is three quarters older.
    expect(await one(10, 200_500)).toEqual([8, 202_400]);
    // As long as the one before: after 20 s and whenever twice as old, until that time comes.
    expect(await one(10, 200_500)).toEqual([7, 202_400]);
    // The longer one says no less than a tenth of it, the small one that it may be no more.
    expect(await one(5, 20_600)).toEqual([3, 21_500]);
    await informer.close();
  });
});
