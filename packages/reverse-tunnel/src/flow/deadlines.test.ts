import { VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import { Deadlines } from "./deadlines.ts";

/** Deadlines on a virtual clock, what was late at which time, and how many sleeps were begun and are under way. */
function stage() {
  const clock = new VirtualClock(0);
  const late: string[] = [];
  const sleeps = { begun: 0, open: 0 };
  const deadlines = new Deadlines({
    now: () => clock.now(),
    sleep: (milliseconds, signal) => {
      sleeps.begun++;
      sleeps.open++;
      return clock.sleep(milliseconds, signal).finally(() => sleeps.open--);
    },
  });
  const after = (time: number, name: string): (() => void) =>
    deadlines.after(time, () => late.push(`${name} at ${clock.now()}`));
  return { clock, deadlines, after, late, sleeps };
}

test("a wait is late at its time unless it ended before, and all of one length take one sleep at a time", async () => {
  const { clock, after, late, sleeps } = stage();
  after(100, "first");
  const cancel = after(100, "ended");
  after(30, "short");
  await clock.advance(50);
  cancel();
  after(100, "second");
  expect(sleeps).toEqual({ begun: 2, open: 1 });
  await clock.advance(300);
  expect(late).toEqual(["short at 30", "first at 100", "second at 150"]);
  expect(sleeps.open).toBe(0);
  after(100, "third");
  await clock.advance(100);
  expect(late.at(-1)).toBe("third at 450");
});

test("a wait that begins when another of its length is late has its whole time", async () => {
  const { clock, deadlines, after, late } = stage();
  deadlines.after(100, () => after(100, "next"));
  await clock.advance(1_000);
  expect(late).toEqual(["next at 200"]);
});

test("closed, nothing sleeps but for what still waits, and what begins later is late, too", async () => {
  const { clock, deadlines, after, late, sleeps } = stage();
  const cancel = after(100, "ended");
  after(50, "kept");
  after(20, "idle")();
  expect(sleeps.open).toBe(3);
  deadlines.close();
  await clock.advance(0);
  expect(sleeps.open).toBe(2);
  cancel();
  after(100, "later");
  await clock.advance(0);
  expect(sleeps.open).toBe(2);
  await clock.advance(200);
  expect(late).toEqual(["kept at 50", "later at 100"]);
  expect(sleeps.open).toBe(0);
});
