import { createMetrics, VirtualClock } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import { Brake } from "./brake.ts";
import { differencesOf, notConverging } from "./brake-event.ts";
import type { PlannedEvent, Pipeline } from "./interface.ts";
import { runPipeline } from "./pipeline.ts";

const key = { namespace: "n", name: "a" };
const never = new AbortController().signal;

interface Step {
  readonly type: string;
  readonly id: string;
  readonly change: { readonly colour: string };
}

/** A server that returns another spelling than it was sent, and what a controller does with it in `milliseconds`. */
function world(change: Partial<Pipeline<{ wanted: string; colour: string }, Step, string>> = {}) {
  const clock = new VirtualClock(1_000_000);
  const metrics = createMetrics();
  const seen = {
    colour: "red",
    wanted: "blue",
    spell: (colour: string) => colour.toUpperCase(),
    performed: [] as number[],
    published: [] as string[],
    events: [] as PlannedEvent[],
    metrics,
  };
  const pipeline: Pipeline<{ wanted: string; colour: string }, Step, string> = {
    gather: async () => ({ wanted: seen.wanted, colour: seen.colour }),
    plan: ({ wanted, colour }) => ({
      steps: wanted === colour ? [] : [{ type: "paint", id: "wall", change: { colour: wanted } }],
      status: colour,
    }),
    async perform(step) {
      seen.performed.push(clock.now());
      seen.colour = seen.spell(step.change.colour);
    },
    async publish(_, status, events) {
      seen.published.push(status);
      seen.events.push(...events);
    },
    failed: (_, __, ___, error) => ({
      status: `failed: ${String(error)}`,
      events: [{ type: "Warning", reason: "Failed", message: String(error) }],
    }),
    aimOf: (step, { colour }) => ({
      type: step.type,
      target: step.id,
      differences: differencesOf({ colour }, step.change),
    }),
    ...change,
  };
  const reconcile = runPipeline(pipeline, { clock, name: "painter", metrics });
  /** As the queue would: at once after a failure, when it was requested, and every second, for the world is lively. */
  const live = async (milliseconds: number) => {
    for (const end = clock.now() + milliseconds; clock.now() < end;) {
      const result = await reconcile(key, never).catch(() => ({ after: 5 }));
      await clock.advance(Math.max(1, Math.min(result?.after ?? 1_000, 1_000)));
    }
  };
  return { ...seen, seen, clock, live };
}

describe("a plan that does not converge", () => {
  test("is tried at most 14 times in ten minutes, ever more rarely, though it is reconciled every second", async () => {
    const { seen, live } = world();
    await live(600_000);
    expect(seen.performed.length).toBeGreaterThan(8);
    expect(seen.performed.length).toBeLessThanOrEqual(14);
    const pauses = seen.performed.slice(4).map((at, i) => at - (seen.performed[i + 3] ?? 0));
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
  });

  test("is reported by one event with the field and both values, and publishes its status", async () => {
    const { seen, live } = world();
    await live(600_000);
    expect(seen.events).toHaveLength(1);
    expect(seen.events[0]).toMatchObject({ type: "Warning", reason: "ReconcileNotConverging" });
    expect(seen.events[0]?.message).toContain(
      'paint wall was performed 4 times, but colour is "BLUE" again instead of "blue"',
    );
    expect(seen.published.at(-1)).toBe("BLUE");
  });

  test("is counted in a metric with the controller's name", async () => {
    const { seen, live } = world();
    await live(60_000);
    const count = /controller_runtime_reconcile_nonconverging_total\{controller="painter"\} (\d+)/;
    expect(Number(count.exec(await seen.metrics.render())?.[1])).toBe(seen.performed.length - 3);
  });

  test("is held at most five minutes", async () => {
    const { seen, live } = world();
    await live(7_200_000);
    const pauses = seen.performed.slice(1).map((at, i) => at - (seen.performed[i] ?? 0));
    expect(Math.max(...pauses)).toBeLessThanOrEqual(301_000);
  });

  test("is released at once when the plan changes", async () => {
    const { seen, live, clock } = world();
    await live(300_000);
    seen.wanted = "green";
    const before = seen.performed.length;
    const now = clock.now();
    await live(1_000);
    expect(seen.performed[before]).toBeLessThanOrEqual(now + 1_000);
  });

  test("is released when the object asks for something else, also if the step is the same", async () => {
    let generation = 1;
    const { seen, live } = world({ epochOf: () => String(generation) });
    await live(300_000);
    const before = seen.performed.length;
    generation++;
    await live(1_000);
    expect(seen.performed.length).toBeGreaterThan(before);
  });

  test("is forgotten when it converges: what drifts later is put right at once, again and again", async () => {
    const { seen, live } = world();
    seen.spell = (colour) => colour;
    for (let i = 0; i < 20; i++) {
      seen.colour = "drifted";
      await live(1_000);
      expect(seen.colour).toBe("blue");
    }
    expect([seen.performed.length, seen.events]).toEqual([20, []]);
  });

  test.each([
    ["in the plan", false],
    ["in what the plan waits for", true],
  ])("is forgotten when it converges while another is held, which is %s", async (_, waits) => {
    const held: Step = { type: "paint", id: "door", change: { colour: "" } };
    const { seen, live, clock } = world({
      plan: ({ wanted, colour }) => {
        const own: Step[] = wanted === colour ? [] : [{ type: "paint", id: "wall", change: { colour: wanted } }];
        if (!waits) return { steps: [held, ...own], status: colour };
        const wait = { for: "the door", until: clock.now() + 60_000, onlyHeld: true } as const;
        return { steps: own, status: colour, ...(own.length > 0 ? {} : { wait }) };
      },
      async perform(step) {
        if (step.id === "door") throw new Error("400");
        seen.performed.push(clock.now());
        seen.colour = step.change.colour;
      },
      isRefusal: () => true,
      isIndependent: (later, before) => before.id === "door" && later.id === "wall",
    });
    await live(1_000);
    for (let i = 0; i < 20; i++) {
      seen.colour = "drifted";
      await live(1_000);
      if (!waits && seen.colour !== "blue") await live(6_000);
      expect(seen.colour).toBe("blue");
    }
    expect(seen.events.filter(({ reason }) => reason === "ReconcileNotConverging")).toEqual([]);
  });

  test("does not count a step that was deferred", async () => {
    const { seen, live } = world({ perform: () => Promise.resolve("deferred") });
    await live(60_000);
    expect(seen.events).toEqual([]);
  });

  test("that alternates between two steps is held, too", async () => {
    let turn = 0;
    const changing = world({
      plan: ({ colour }) => ({
        steps: [{ type: "paint", id: turn++ % 2 === 0 ? "wall" : "door", change: { colour: "blue" } }],
        status: colour,
      }),
    });
    await changing.live(600_000);
    expect(changing.seen.performed.length).toBeLessThanOrEqual(28);
    expect(changing.seen.events).toHaveLength(2);
  });
});

describe("a step that is refused", () => {
  test("is the same step whether or not another follows it", () => {
    const brake = new Brake({ clock: new VirtualClock() });
    brake.refused(key, { type: "write", more: true }, new Error("no"));
    expect(brake.holdOf(key, { type: "write" })).toBeDefined();
    expect(brake.holdOf(key, { type: "write", more: "text" })).toBeUndefined();
  });

  const refused = (more: Parameters<typeof world>[0] = {}) => {
    const tries: number[] = [];
    const made: ReturnType<typeof world> = world({
      perform: () => {
        tries.push(made.clock.now());
        return Promise.reject(new Error("400"));
      },
      isRefusal: (error) => error instanceof Error && error.message === "400",
      ...more,
    });
    return { ...made, tries };
  };

  test("is tried again after five seconds, and ever more rarely", async () => {
    const { tries, live } = refused();
    await live(10_000);
    expect(tries).toHaveLength(2);
    await live(590_000);
    expect(tries.length).toBeLessThanOrEqual(8);
  });

  test("keeps the status of its failure while it waits", async () => {
    const { seen, live } = refused();
    await live(60_000);
    expect(new Set(seen.published)).toEqual(new Set(["failed: Error: 400"]));
  });

  test("is not held where the error may pass", async () => {
    const { tries, live } = refused({ isRefusal: () => false });
    await live(1_000);
    expect(tries.length).toBeGreaterThan(10);
  });

  test("holds up what is independent of it for no longer than one turn", async () => {
    const done: string[] = [];
    const { live } = world({
      plan: () => ({
        steps: ["address", "members"].map((id) => ({ type: "set", id, change: { colour: "" } })),
        status: "",
      }),
      perform: (step) => {
        done.push(step.id);
        return step.id === "address" ? Promise.reject(new Error("400")) : Promise.resolve("deferred");
      },
      isRefusal: () => true,
      isIndependent: (later, held) => held.id === "address" && later.id === "members",
    });
    await live(10);
    expect(done.slice(0, 2)).toEqual(["address", "members"]);
  });
});

describe("the event of a step", () => {
  test.each<[string, unknown, RegExp]>([
    [
      "names type and target where no field is known",
      { type: "delete-pool", id: "p1" },
      /delete-pool p1 was performed 4/,
    ],
    ["names a target by its name", { type: "patch", name: "w-1" }, /patch w-1 was/],
    ["of a plain text is that text", "add", /: add was/],
  ])("%s", (_, step, message) => {
    expect(notConverging(step, { aim: undefined, times: 4 }).message).toMatch(message);
  });

  test("is short, however long the values are", () => {
    const aim = { type: "t", differences: [{ field: "f", from: "x".repeat(9_999), to: undefined }] };
    expect(notConverging({}, { aim, times: 4 }).message.length).toBeLessThan(500);
  });
});

test("the brake encodes a step once, however often it is compared", () => {
  let encoded = 0;
  const step = {
    type: "paint",
    toJSON: () => {
      encoded += 1;
      return { type: "paint" };
    },
  };
  const brake = new Brake({ clock: new VirtualClock(0) });
  brake.performed(key, step);
  for (let i = 0; i < 3; i++) brake.performed(key, step);
  expect(brake.holdOf(key, step)).toEqual({ until: 1_000 });
  expect(encoded).toBe(1);
});

test("the brake forgets the oldest of very many steps of a key", () => {
  const brake = new Brake({ clock: new VirtualClock(1) });
  for (let i = 0; i < 3_000; i++) for (let n = 0; n < 4; n++) brake.performed(key, { i });
  expect(brake.holdOf(key, { i: 2_999 })).toBeDefined();
  expect(brake.holdOf(key, { i: 0 })).toBeUndefined();
});
