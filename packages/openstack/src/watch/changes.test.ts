import { silentLog, VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import { PollingInformer, type WatchedType } from "./informer.ts";

interface Thing {
  readonly id: string;
  readonly status: string;
  readonly updated_at: string;
}

const type: WatchedType<Thing> = {
  name: "things",
  indexes: {},
  inTransition: ({ status }) => status === "changing" || status === "deleting",
  transition: ({ status }) => ({ kind: status, size: 1 }),
  deleting: ({ status }) => status === "deleting",
  hardlyChanges: false,
  changes: { changedAt: ({ updated_at: at }) => at, needsAll: ({ status }) => status === "deleting" },
};

const stamp = (now: number) => new Date(now).toISOString().slice(0, 19);

/** A service with so many things, of which none has changed for an hour. */
function setUp({ count = 200, supports = true } = {}) {
  const clock = new VirtualClock(10 * 3_600_000);
  const things = new Map<string, Thing>();
  const set = (id: string, status: string) => things.set(id, { id, status, updated_at: stamp(clock.now()) });
  for (let at = 0; at < count; at += 1) set(`${at}`, "still");
  const seen = { whole: 0, partial: 0, objects: 0 };
  const note = (list: Thing[]): Promise<Thing[]> => {
    seen.objects += list.length;
    return Promise.resolve(list);
  };
  const informer = new PollingInformer<Thing>({
    type,
    clock,
    log: silentLog,
    intervals: { slow: 1_800_000, apart: 250 },
    list: () => {
      seen.whole += 1;
      return note([...things.values()]);
    },
    listChanged: (since) => {
      seen.partial += 1;
      if (!supports) return Promise.resolve(undefined);
      return note([...things.values()].filter(({ updated_at: at }) => at >= since));
    },
  });
  /** In steps of 100 ms. */
  const pass = async (milliseconds: number) => {
    for (let at = 0; at < milliseconds; at += 100) await clock.advance(100);
  };
  const refreshed = async (scope?: "all" | "changes") => {
    const done = informer.refresh(undefined, scope);
    await pass(300);
    await done;
  };
  return { clock, informer, set, things, seen, pass, refreshed };
}

async function begun(options = {}) {
  const all = setUp(options);
  await all.informer.start();
  await all.clock.advance(3_600_000);
  await all.refreshed();
  return all;
}

test("a change among many objects is seen by lists of what has changed", async () => {
  const { informer, set, seen, pass } = await begun();
  const before = { ...seen };
  set("7", "changing");
  informer.observe({ id: "7", status: "changing", updated_at: "" });
  await pass(3_000);
  set("7", "still");
  await pass(2_000);
  expect(informer.get("7")?.status).toBe("still");
  expect(seen.whole - before.whole).toBe(0);
  expect(seen.partial).toBeGreaterThan(1);
  // The first change moves the window: what was stamped an hour before is listed until then.
  expect(seen.objects - before.objects).toBeLessThan(2 * 200 + 20);
  await informer.close();
});

test("a refresh for changes lists changes, one for all lists all, and only that removes what is gone", async () => {
  const { informer, things, set, seen, refreshed } = await begun();
  const { whole } = seen;
  set("1", "other");
  things.delete("2");
  await refreshed("changes");
  expect([informer.get("1")?.status, informer.get("2")?.status, seen.whole]).toEqual(["other", "still", whole]);
  await refreshed();
  expect([informer.get("2"), seen.whole]).toEqual([undefined, whole + 1]);
  await informer.close();
});

test("a deletion is seen by lists of all", async () => {
  const { informer, things, set, seen, pass } = await begun();
  set("3", "deleting");
  informer.observe({ id: "3", status: "deleting", updated_at: "" });
  await pass(500);
  things.delete("3");
  await pass(3_000);
  expect(informer.get("3")).toBeUndefined();
  expect(seen.partial).toBe(0);
  await informer.close();
});

test("while nothing changes, refreshes for changes list all twice an hour", async () => {
  const { informer, things, seen, clock, refreshed } = await begun();
  const before = { ...seen };
  things.delete("6");
  for (let minute = 0; minute < 60; minute += 1) {
    await clock.advance(60_000);
    await refreshed("changes");
  }
  expect(informer.get("6")).toBeUndefined();
  expect(seen.whole - before.whole).toBeLessThanOrEqual(3);
  expect(seen.partial - before.partial).toBeGreaterThan(50);
  await informer.close();
});

test("while something changes, all are listed once a minute", async () => {
  const { informer, things, set, seen, pass } = await begun();
  const { whole } = seen;
  set("4", "changing");
  informer.observe({ id: "4", status: "changing", updated_at: "" });
  things.delete("5");
  await pass(150_000);
  expect(informer.get("5")).toBeUndefined();
  expect(seen.whole - whole).toBeLessThanOrEqual(3);
  await informer.close();
});

test.each([
  ["a service without such a list", { supports: false }, 1],
  ["few objects", { count: 20 }, 0],
])("of %s, all are listed", async (_name, options, partial) => {
  const { informer, set, seen, refreshed } = await begun(options);
  set("1", "other");
  await refreshed("changes");
  await refreshed("changes");
  expect(informer.get("1")?.status).toBe("other");
  expect(seen.partial).toBe(partial);
  await informer.close();
});
