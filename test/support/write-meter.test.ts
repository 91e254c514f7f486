import { setImmediate } from "node:timers/promises";
import { VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import { startMeter, type MeteredStore } from "./write-meter.ts";

/** Accepts writes while `isServing`; those in `loses` are accepted and not kept. */
function playStore() {
  const there = new Set<string>();
  const state = { isServing: true, loses: new Set<string>() };
  const store: MeteredStore = {
    write: async (name) => {
      if (!state.isServing) return false;
      if (!state.loses.has(name)) there.add(name);
      return true;
    },
    names: async () => there,
  };
  return { state, store };
}

/** A meter that has made its first attempt and waits for the clock. */
async function begin(store: MeteredStore, clock: VirtualClock) {
  const meter = startMeter(store, "a", clock);
  await setImmediate();
  return meter;
}

test("a meter of a store that always serves counts all writes and no more than its own pause", async () => {
  const clock = new VirtualClock();
  const { store } = playStore();
  const meter = await begin(store, clock);
  await clock.advance(1_000);
  expect(await meter.stop()).toEqual({ written: 21, lost: 0, outage: 50 });
});

test("a meter counts an outage between two writes", async () => {
  const clock = new VirtualClock();
  const { state, store } = playStore();
  const meter = await begin(store, clock);
  await clock.advance(500);
  state.isServing = false;
  await clock.advance(3_000);
  state.isServing = true;
  await clock.advance(500);
  expect(await meter.stop()).toEqual({ written: 21, lost: 0, outage: 3_050 });
});

test("a meter counts the silence from the last write to the stop", async () => {
  const clock = new VirtualClock();
  const { state, store } = playStore();
  const meter = await begin(store, clock);
  await clock.advance(500);
  state.isServing = false;
  await clock.advance(7_000);
  expect(await meter.stop()).toEqual({ written: 11, lost: 0, outage: 7_000 });
});

test("a meter of a store that never serves counts the whole time", async () => {
  const clock = new VirtualClock();
  const { state, store } = playStore();
  state.isServing = false;
  const meter = await begin(store, clock);
  await clock.advance(4_000);
  expect(await meter.stop()).toEqual({ written: 0, lost: 0, outage: 4_000 });
});

test("a meter reports the writes that were accepted and are not there", async () => {
  const clock = new VirtualClock();
  const { state, store } = playStore();
  state.loses = new Set(["a-2", "a-3"]);
  const meter = await begin(store, clock);
  await clock.advance(300);
  expect(await meter.stop()).toMatchObject({ written: 7, lost: 2 });
});
