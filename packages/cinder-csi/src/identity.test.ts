import { VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import { createIdentity } from "./identity.ts";

type Call = Parameters<NonNullable<ReturnType<typeof createIdentity>["probe"]>>;
const request = {} as Call[0];
const contextOf = (signal: AbortSignal) => ({ signal }) as unknown as Call[1];

test("a probe whose caller leaves does not end that of the others", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  const identity = createIdentity({
    version: "1",
    clock: new VirtualClock(),
    check(signal) {
      signals.push(signal);
      return promise;
    },
  });
  const leaving = new AbortController();
  const left = identity.probe?.(request, contextOf(leaving.signal));
  const stays = identity.probe?.(request, contextOf(new AbortController().signal));
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  resolve();
  expect(await stays).toEqual({ ready: true });
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
});

test("a probe returns the check of half a minute, and a failure is checked again", async () => {
  const clock = new VirtualClock();
  let [count, isRefused] = [0, false];
  const identity = createIdentity({
    version: "1",
    clock,
    check() {
      count += 1;
      return isRefused ? Promise.reject(new Error("refused")) : Promise.resolve();
    },
  });
  const probe = () => Promise.resolve(identity.probe?.(request, contextOf(new AbortController().signal)));
  await probe();
  await probe();
  expect(count).toBe(1);
  isRefused = true;
  await clock.advance(30_001);
  for (let attempt = 0; attempt < 2; attempt += 1)
    await expect(probe()).rejects.toMatchObject({ code: "CSI_FAILED_PRECONDITION" });
  expect(count).toBe(3);
});
