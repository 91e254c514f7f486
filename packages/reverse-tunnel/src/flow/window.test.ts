import fc from "fast-check";
import { expect, test } from "vitest";
import { largestWindowOf, openStream, planStream, roomOf, type StreamEvent } from "./plan-stream.ts";

test.each([
  [0, 256],
  [1, 256],
  [32, 256],
  [64, 128],
  [200, 40.96],
  [256, 32],
  [10_000, 32],
])("each of %i streams may have %d KiB queued", (streams, kib) => {
  expect(roomOf(streams)).toBe(Math.floor(kib * 1024));
});

test.each([
  [1, 4096],
  [2, 4096],
  [5, 2048],
  [200, 51.2],
  [256, 48],
  [10_000, 48],
])("the window of each of %i streams may grow to %d KiB", (streams, kib) => {
  expect(largestWindowOf(streams)).toBe(Math.floor(kib * 1024));
});

test("a window is always what the peer may send and what waits, however it grows and shrinks", () => {
  const received = fc.record({
    part: fc.double({ min: 0, max: 1, noNaN: true }),
    streams: fc.integer({ min: 1, max: 500 }),
  });
  fc.assert(
    fc.property(fc.array(received), (all) => {
      let state = openStream({ windowed: true, credit: 0, lingers: true });
      let peer = state.window;
      const happen = (event: StreamEvent): void => {
        const next = planStream(state, event);
        state = next.state;
        for (const effect of next.effects) peer += effect.type === "grant" ? effect.bytes : 0;
      };
      for (const { part, streams } of all) {
        const bytes = Math.ceil(part * peer);
        peer -= bytes;
        happen({ type: "received", bytes });
        happen({ type: "accepted", bytes: Math.floor(part * state.unread), streams });
        expect(peer + state.unread + state.owed).toBe(state.window);
        expect(state.closed).toBe(false);
      }
    }),
    { numRuns: 300 },
  );
});
