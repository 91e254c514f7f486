import { VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import { paced } from "./pace.ts";

const key = { namespace: "default", name: "web" };
const never = new AbortController().signal;

function pace(size: { count: number | undefined }) {
  const clock = new VirtualClock();
  let runs = 0;
  const reconcile = paced(
    () => {
      runs += 1;
      return Promise.resolve();
    },
    { clock, sizeOf: () => size.count },
  );
  return { clock, runs: () => runs, reconcile: () => reconcile(key, never) };
}

test("an owner of a thousand pods is reconciled ten times a second", async () => {
  const { clock, runs, reconcile } = pace({ count: 1_000 });
  for (let i = 0; i < 100; i += 1) {
    await reconcile();
    await clock.advance(10);
  }
  expect(runs()).toBe(10);
});

test("a reconcile that is put off says when it is due", async () => {
  const { clock, reconcile } = pace({ count: 1_000 });
  expect(await reconcile()).toBeUndefined();
  await clock.advance(40);
  expect(await reconcile()).toEqual({ after: 60 });
});

test("an owner of a few pods, and one that is gone, are never put off", async () => {
  for (const count of [9, undefined]) {
    const { runs, reconcile } = pace({ count });
    await reconcile();
    await reconcile();
    expect(runs()).toBe(2);
  }
});

test("a failed reconcile is not put off: the queue's back-off decides", async () => {
  const clock = new VirtualClock();
  const reconcile = paced(() => Promise.reject(new Error("no")), { clock, sizeOf: () => 1_000 });
  await expect(reconcile(key, never)).rejects.toThrow("no");
  await expect(reconcile(key, never)).rejects.toThrow("no");
});
