import { VirtualClock } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import type { PlannedEvent, Pipeline } from "./interface.ts";
import { runPipeline } from "./pipeline.ts";

const key = { namespace: "n", name: "a" };
const never = new AbortController().signal;
const event = (message: string): PlannedEvent => ({ type: "Normal", reason: "Did", message });

/** A pipeline towards a number: each step adds one. What happens on it is written down. */
function counting(goal: number, change: Partial<Pipeline<{ at: number }, string, string>> = {}) {
  const world = { at: 0, log: [] as string[] };
  const pipeline: Pipeline<{ at: number }, string, string> = {
    gather: async () => ({ at: world.at }),
    plan: ({ at }) => ({
      steps: at < goal ? ["add"] : [],
      status: `at ${at}`,
      events: at < goal ? [event(`from ${at}`)] : [],
    }),
    perform: async (step) => {
      world.at++;
      world.log.push(step);
    },
    publish: async (_, status, events) => {
      world.log.push([status, ...events.map((each) => each.message)].join(", "));
    },
    failed: (_, __, step, error) => ({
      status: `failed to ${step}: ${String(error)}`,
      events: [{ ...event("failed"), type: "Warning" }],
    }),
    ...change,
  };
  return { world, pipeline };
}

describe("the pipeline", () => {
  test("performs and plans until no step is left, then publishes once, with the events of all rounds", async () => {
    const { world, pipeline } = counting(3);
    expect(await runPipeline(pipeline)(key, never)).toBeUndefined();
    expect(world.log).toEqual(["add", "add", "add", "at 3, from 0, from 1, from 2"]);
  });

  test("gathers again when a list that it requested is due, if that is earlier than the plan's own time", async () => {
    const clock = new VirtualClock();
    const at = clock.now();
    for (const [until, again, after] of [
      [undefined, 500, 500],
      [1_000, 500, 500],
      [1_000, 2_000, 1_000],
      [1_000, undefined, 1_000],
    ] as const) {
      const { pipeline } = counting(0, {
        plan: () => ({ steps: [], status: "", wait: { for: "a list", ...(until ? { until: at + until } : {}) } }),
        planned: () => (again === undefined ? undefined : at + again),
      });
      expect(await runPipeline(pipeline, { clock })(key, never)).toEqual({ after });
    }
  });

  test("publishes again when a status that was held back is due, if that is earlier than the plan's own time", async () => {
    const clock = new VirtualClock();
    for (const [until, held, after] of [
      [undefined, 500, 500],
      [1_000, 500, 500],
      [1_000, 2_000, 1_000],
    ] as const) {
      const wait = until === undefined ? {} : { wait: { for: "a list", until: clock.now() + until } };
      const { pipeline } = counting(0, {
        plan: () => ({ steps: [], status: "", ...wait }),
        publish: async () => ({ after: held }),
      });
      expect(await runPipeline(pipeline, { clock })(key, never)).toEqual({ after });
    }
  });

  test("ends where the object is gone", async () => {
    const { world, pipeline } = counting(3, { gather: () => Promise.resolve(undefined) });
    expect(await runPipeline(pipeline)(key, never)).toBeUndefined();
    expect(world.log).toEqual([]);
  });

  test("goes to the end of the queue after so many rounds, and reports how far it came", async () => {
    const { world, pipeline } = counting(5);
    expect(await runPipeline(pipeline, { maxRounds: 2 })(key, never)).toEqual({ after: 0 });
    expect(world.log).toEqual(["add", "add", "at 2, from 0, from 1, from 2"]);
  });

  test("reports a read that failed twice in a row, and again after each further one", async () => {
    const results = ["lost", "read", "lost", "lost", "lost", "read", "lost"];
    const reported: string[] = [];
    const { world, pipeline } = counting(0, {
      gather: async () => {
        if (results.shift() === "lost") throw new Error(`lost, ${results.length} left`);
        return { at: 0 };
      },
      unread: async (of, error) => void reported.push(`${of.name}: ${String(error)}`),
    });
    const reconcile = runPipeline(pipeline);
    while (results.length > 0) await reconcile(key, never).catch(() => {});
    expect(reported).toEqual(["a: Error: lost, 3 left", "a: Error: lost, 2 left"]);
    expect(world.log).toEqual(["at 0", "at 0"]);
  });

  test("the error of a read is passed to the queue, also where it cannot be reported", async () => {
    const { pipeline } = counting(0, {
      gather: () => Promise.reject(new Error("no list")),
      unread: () => Promise.reject(new Error("no server")),
    });
    const reconcile = runPipeline(pipeline);
    for (let i = 0; i < 3; i++) await expect(reconcile(key, never)).rejects.toThrow("no list");
  });

  test("comes back when the wait is over", async () => {
    const clock = new VirtualClock(1000);
    const plan = () => ({ steps: [], status: "waiting", wait: { for: "the boat", until: 4000 } });
    expect(await runPipeline(counting(0, { plan }).pipeline, { clock })(key, never)).toEqual({ after: 3000 });
    const open = () => ({ steps: [], status: "waiting", wait: { for: "the boat" } });
    expect(await runPipeline(counting(0, { plan: open }).pipeline, { clock })(key, never)).toBeUndefined();
  });

  test("publishes a failure, leaves out the steps after it, and throws it on", async () => {
    const error = new Error("no");
    const { world, pipeline } = counting(2, {
      plan: () => ({ steps: ["one", "two"], status: "s" }),
      perform: (step) => {
        world.log.push(step);
        return Promise.reject(error);
      },
    });
    await expect(runPipeline(pipeline)(key, never)).rejects.toBe(error);
    expect(world.log).toEqual(["one", "failed to one: Error: no, failed"]);
  });

  test("throws the step's error even if its status cannot be written", async () => {
    const error = new Error("no");
    const { pipeline } = counting(2, {
      perform: () => Promise.reject(error),
      publish: () => Promise.reject(new Error("unreachable")),
    });
    await expect(runPipeline(pipeline)(key, never)).rejects.toBe(error);
  });

  test("publishes nothing after its signal aborts", async () => {
    const stop = new AbortController();
    const { world, pipeline } = counting(2, {
      perform: () => {
        stop.abort();
        return Promise.reject(stop.signal.reason as Error);
      },
    });
    await expect(runPipeline(pipeline)(key, stop.signal)).rejects.toThrow();
    expect(world.log).toEqual([]);
  });

  test("reads and plans on the account that it is given, and performs on no account", async () => {
    let depth = 0;
    const charged: string[] = [];
    const note = (what: string) => charged.push(`${what} ${depth}`);
    const { pipeline } = counting(1);
    const noted: typeof pipeline = {
      ...pipeline,
      gather(wanted, signal) {
        note("gather");
        return pipeline.gather(wanted, signal);
      },
      plan(observed, now) {
        note("plan");
        return pipeline.plan(observed, now);
      },
      perform(step, observed, signal) {
        note("perform");
        return pipeline.perform(step, observed, signal);
      },
    };
    const charge = <T>(work: () => T): T => {
      depth++;
      try {
        return work();
      } finally {
        depth--;
      }
    };
    await runPipeline(noted, { charge })(key, never);
    expect(charged).toEqual(["gather 1", "plan 1", "perform 0", "gather 1", "plan 1"]);
  });
});
