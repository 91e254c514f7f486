import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  LIMITS,
  openStream,
  planStream,
  type StreamEffect,
  type StreamEvent,
  type StreamState,
} from "./plan-stream.ts";

const windowed = openStream({ windowed: true, credit: LIMITS.window, lingers: true });
const stock = openStream({ windowed: false, credit: 0, lingers: true });
const stockAgent = openStream({ windowed: false, credit: 0, lingers: false });

function run(start: StreamState, events: readonly StreamEvent[]): { state: StreamState; effects: StreamEffect[] } {
  let state = start;
  const effects: StreamEffect[] = [];
  for (const event of events) {
    const next = planStream(state, event);
    ({ state } = next);
    effects.push(...next.effects);
  }
  return { state, effects };
}

const words = (effects: readonly StreamEffect[]): string[] =>
  effects.map((effect) => {
    if (effect.type === "failed") return `failed ${effect.reason}`;
    if (effect.type === "destroy-socket" || effect.type === "send-close") {
      return effect.flush ? `${effect.type} after what is left` : effect.type;
    }
    return effect.type;
  });

describe("a stream", () => {
  const rows: [title: string, start: StreamState, events: StreamEvent[], effects: string[]][] = [
    [
      "stops reading the socket when much waits to be sent, and reads again when half is sent",
      stock,
      [
        { type: "read", bytes: LIMITS.queue },
        { type: "sent", bytes: LIMITS.queue / 2 },
      ],
      ["pause", "resume"],
    ],
    [
      "grants again what the socket accepted, in few packets",
      windowed,
      [
        { type: "received", bytes: LIMITS.window },
        { type: "accepted", bytes: 1 },
        { type: "accepted", bytes: LIMITS.window / 4 },
      ],
      ["grant"],
    ],
    [
      "lets the peer send more ahead while the socket accepts all at once",
      windowed,
      [
        { type: "received", bytes: LIMITS.window / 2 },
        { type: "accepted", bytes: LIMITS.window / 2 },
        { type: "received", bytes: 2 * LIMITS.window },
      ],
      ["grant"],
    ],
    [
      "ends when the peer sends more than it was granted",
      windowed,
      [{ type: "received", bytes: LIMITS.window + 1 }],
      ["failed window-exceeded", "send-close", "destroy-socket"],
    ],
    [
      "holds the connection of a stock peer while the socket is slow",
      stock,
      [
        { type: "received", bytes: LIMITS.mark + 1 },
        { type: "accepted", bytes: LIMITS.mark },
      ],
      ["hold", "release"],
    ],
    [
      "that makes no progress holds the connection no longer, and ends at its limit",
      stock,
      [
        { type: "received", bytes: LIMITS.mark + 1 },
        { type: "no-progress" },
        { type: "received", bytes: 1 },
        { type: "received", bytes: LIMITS.stalled },
      ],
      ["hold", "release", "failed stalled", "send-close", "destroy-socket"],
    ],
    [
      "passes on the end of the socket, and ends when both ways ended",
      windowed,
      [{ type: "local-end" }, { type: "remote-end" }],
      ["send-end", "linger", "destroy-socket after what is left"],
    ],
    [
      "closes when the peer sends nothing for long after the end of the socket",
      windowed,
      [{ type: "local-end" }, { type: "linger-over" }],
      ["send-end", "linger", "send-close after what is left", "destroy-socket after what is left"],
    ],
    [
      "passes on the end of the peer, and sends what is queued before it ends",
      windowed,
      [
        { type: "read", bytes: 10 },
        { type: "remote-end" },
        { type: "local-end" },
        { type: "granted", bytes: 10 },
        { type: "sent", bytes: 10 },
      ],
      ["end-socket", "send-end", "destroy-socket after what is left"],
    ],
    [
      "of a server waits after the end of the socket for what a stock agent has still to send",
      stock,
      [{ type: "local-end" }, { type: "received", bytes: 1 }, { type: "remote-close" }],
      ["linger", "destroy-socket after what is left"],
    ],
    [
      "of a server closes when nothing more came",
      stock,
      [{ type: "local-end" }, { type: "linger-over" }],
      ["linger", "send-close after what is left", "destroy-socket after what is left"],
    ],
    [
      "of an agent closes with a stock server after what is queued",
      stockAgent,
      [{ type: "local-end" }],
      ["send-close after what is left", "destroy-socket after what is left"],
    ],
    ["closes at once when the socket is gone", stock, [{ type: "local-gone" }], ["send-close"]],
    [
      "releases the connection when it ends",
      stock,
      [{ type: "received", bytes: LIMITS.mark + 1 }, { type: "local-gone" }],
      ["hold", "release", "send-close"],
    ],
    ["ends with its connection", windowed, [{ type: "lost" }], ["failed tunnel-lost", "destroy-socket"]],
  ];
  test.each(rows)("%s", (_title, start, events, expected) => {
    expect(words(run(start, events).effects)).toEqual(expected);
  });
});

const event: fc.Arbitrary<StreamEvent> = fc.oneof(
  fc.record({
    type: fc.constantFrom("read", "received", "accepted", "sent", "granted"),
    bytes: fc.integer({ min: 1, max: 3 * LIMITS.mark }),
  }),
  fc.record({
    type: fc.constantFrom(
      "no-progress",
      "local-end",
      "local-gone",
      "remote-end",
      "remote-close",
      "linger-over",
      "lost",
    ),
  }),
);

test("a stream releases each hold once, and keeps a bounded amount, after any events", () => {
  fc.assert(
    fc.property(fc.constantFrom(windowed, stock, stockAgent), fc.array(event, { maxLength: 40 }), (start, events) => {
      let state = start;
      let holds = 0;
      for (const each of events) {
        // The shell reports only bytes that are there.
        if (each.type === "accepted" && each.bytes > state.unread) continue;
        if (each.type === "sent" && each.bytes > (state.windowed ? Math.min(state.queued, state.credit) : state.queued))
          continue;
        if (each.type === "read" && state.paused) continue;
        const next = planStream(state, each);
        ({ state } = next);
        for (const effect of next.effects) holds += effect.type === "hold" ? 1 : effect.type === "release" ? -1 : 0;
        expect(holds).toBe(state.holding ? 1 : 0);
        if (state.closed) continue;
        if (state.windowed) expect(state.unread + state.owed).toBeLessThanOrEqual(state.window);
        expect(state.window).toBeLessThanOrEqual(LIMITS.largestWindow);
        if (state.stalled && !state.holding && each.type === "received")
          expect(state.unread).toBeLessThanOrEqual(LIMITS.stalled);
      }
      expect(planStream({ ...state, closed: true }, { type: "local-gone" }).effects).toEqual([]);
    }),
    { numRuns: 300 },
  );
});
