import { describe, expect, it } from "vitest";
import { VirtualClock } from "./clock.ts";
import { backoff, retry } from "./retry.ts";

describe("a back-off", () => {
  it("doubles up to its cap", () => {
    const delay = backoff({ base: 100, cap: 500, jitter: 0 });
    expect([1, 2, 3, 4, 50].map((n) => delay(n))).toEqual([100, 200, 400, 500, 500]);
  });
  it("randomizes the given share", () => {
    const between = (random: number) => backoff({ base: 100, jitter: 0.5, random: () => random })(1);
    expect([between(0), between(1)]).toEqual([100, 50]);
  });
});

describe("a retried call", () => {
  const failing = (times: number) => {
    let calls = 0;
    return async (number: number) => {
      calls++;
      expect(number).toBe(calls);
      if (calls <= times) throw new Error(`failure ${calls}`);
      return calls;
    };
  };
  const settle = async <T>(clock: VirtualClock, promise: Promise<T>): Promise<T> => {
    const settled = promise.catch(() => {});
    for (let i = 0; i < 10; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(60_000);
    }
    await settled;
    return promise;
  };

  it("calls again until it succeeds", async () => {
    const clock = new VirtualClock();
    expect(await settle(clock, retry(failing(3), { clock }))).toBe(4);
  });
  it("throws the last error when the attempts are used up", async () => {
    const clock = new VirtualClock();
    await expect(settle(clock, retry(failing(9), { clock, attempts: 3 }))).rejects.toThrow("failure 3");
  });
  it("throws at once what is not worth another attempt", async () => {
    const clock = new VirtualClock();
    const result = retry(failing(9), { clock, retryable: () => false });
    await expect(settle(clock, result)).rejects.toThrow("failure 1");
  });
  it("waits as long as the delay says, and calls onRetry", async () => {
    const clock = new VirtualClock(0);
    const delays: number[] = [];
    const delay = (n: number) => n * 10;
    const result = retry(failing(2), { clock, delay, onRetry: (_error, _failure, wait) => delays.push(wait) });
    await settle(clock, result);
    expect(delays).toEqual([10, 20]);
  });
  it("ends with the reason of an abort while it waits", async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const result = retry(failing(9), { clock, signal: controller.signal });
    await Promise.resolve();
    controller.abort(new Error("enough"));
    await expect(result).rejects.toThrow();
    await expect(retry(failing(0), { clock, signal: controller.signal })).rejects.toThrow("enough");
  });
});
