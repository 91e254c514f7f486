import { VirtualClock } from "@causeway/foundation";
import { describe, expect, it } from "vitest";
import { Budget } from "./budget.ts";

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Enters `lane` so many times and writes down when each was let in. */
function queue(budget: Budget, clock: VirtualClock, lanes: readonly string[]) {
  const admitted: { lane: string; at: number; leave: () => void }[] = [];
  const start = clock.now();
  for (const lane of lanes) {
    void budget.enter(lane).then((leave) => admitted.push({ lane, at: clock.now() - start, leave }));
  }
  return admitted;
}

describe("the request budget of a cloud", () => {
  it("admits a burst at once and the rest at its rate", async () => {
    const clock = new VirtualClock();
    const admitted = queue(new Budget(clock, { rate: 10, burst: 5, inFlight: 100 }), clock, Array(8).fill("a"));
    await tick();
    expect(admitted.length).toBe(5);
    await clock.advance(1_000);
    expect(admitted.map((a) => a.at)).toEqual([0, 0, 0, 0, 0, 100, 200, 300]);
  });

  it("fills up again in a quiet time, to its burst and not beyond", async () => {
    const clock = new VirtualClock();
    const budget = new Budget(clock, { rate: 10, burst: 5, inFlight: 100 });
    queue(budget, clock, Array(5).fill("a"));
    await tick();
    await clock.advance(60_000);
    const admitted = queue(budget, clock, Array(8).fill("a"));
    await tick();
    expect(admitted.length).toBe(5);
  });

  it("has only so many in flight", async () => {
    const clock = new VirtualClock();
    const admitted = queue(new Budget(clock, { inFlight: 2 }), clock, ["a", "a", "a", "a"]);
    await tick();
    expect(admitted.length).toBe(2);
    admitted[0]?.leave();
    admitted[0]?.leave();
    await tick();
    expect(admitted.length).toBe(3);
  });

  it("serves services in turn, however long the queue of one is", async () => {
    const clock = new VirtualClock();
    const lanes = [...Array<string>(50).fill("ports"), "servers", "servers"];
    const admitted = queue(new Budget(clock, { rate: 10, burst: 1, inFlight: 100 }), clock, lanes);
    await tick();
    await clock.advance(500);
    expect(admitted.slice(0, 6).map((a) => a.lane)).toEqual(["ports", "ports", "servers", "ports", "servers", "ports"]);
  });

  it("holds one service back and not the others", async () => {
    const clock = new VirtualClock();
    const budget = new Budget(clock);
    budget.pause("ports", 5_000);
    const admitted = queue(budget, clock, ["ports", "servers"]);
    await tick();
    expect(admitted.map((a) => a.lane)).toEqual(["servers"]);
    await clock.advance(5_001);
    expect(admitted.map((a) => [a.lane, a.at])).toEqual([
      ["servers", 0],
      ["ports", 5_000],
    ]);
  });

  it("knows since when pauses of a service follow one another, until a call succeeds", async () => {
    const clock = new VirtualClock();
    const budget = new Budget(clock);
    const began = clock.now();
    budget.pause("ports", 20_000, true);
    budget.succeeded("ports");
    expect(budget.pauseOf(["ports"])).toEqual({ until: began + 20_000, since: began, isUnavailable: true });
    await clock.advance(25_000);
    expect(budget.pauseOf(["ports"])).toBeUndefined();
    budget.pause("ports", 20_000, true);
    expect(budget.pauseOf(["servers", "ports"])).toMatchObject({ since: began });
    await clock.advance(25_000);
    budget.succeeded("ports");
    budget.pause("ports", 20_000);
    expect(budget.pauseOf(["ports"])).toMatchObject({ since: began + 50_000, isUnavailable: false });
    // Nor does one after a quiet time.
    await clock.advance(100_000);
    budget.pause("ports", 20_000);
    expect(budget.pauseOf(["ports"])).toMatchObject({ since: began + 150_000 });
  });

  it("drops aborted calls", async () => {
    const clock = new VirtualClock();
    const budget = new Budget(clock, { inFlight: 1 });
    const first = await budget.enter("a");
    const controller = new AbortController();
    const second = budget.enter("a", controller.signal);
    const third = budget.enter("a");
    controller.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    first();
    await third;
  });
});
