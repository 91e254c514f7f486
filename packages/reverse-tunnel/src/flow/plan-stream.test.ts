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
    return "flush" in effect && effect.flush ? `${effect.type} after what is left` : effect.type;
  });

describe("a stream", () => {
  const rows: [title: string, start: StreamState, events: StreamEvent[], effects: string[]][] = [
    [
      "stops reading the socket when much waits to be sent, and reads again when half is sent",
      stock,
      [
        { type: "read", bytes: LIMITS.queue, streams: 1 },
        { type: "sent", bytes: LIMITS.queue / 2, streams: 1 },
      ],
      ["pause", "resume"],
    ],
    [
      "stops reading the socket at its part of a connection with many streams",
      stock,
      [
        { type: "read", bytes: LIMITS.queues / 128 - 1, streams: 128 },
        { type: "read", bytes: 1, streams: 128 },
        { type: "sent", bytes: LIMITS.queues / 256 - 1, streams: 128 },
        { type: "sent", bytes: 1, streams: 128 },
      ],
      ["pause", "resume"],
    ],
    [
      "that has stopped reads again when others end, though it has more queued than before",
      stock,
      [
        { type: "read", bytes: LIMITS.queues / 128, streams: 128 },
        { type: "sent", bytes: 1, streams: 64 },
      ],
      ["pause", "resume"],
    ],
    [
      "grants again what the socket accepted, in few packets",
      windowed,
      [
        { type: "received", bytes: LIMITS.window },
        { type: "accepted", bytes: 1, streams: 1 },
        { type: "accepted", bytes: LIMITS.window / 2, streams: 1 },
      ],
      ["grant"],
    ],
    [
      "lets the peer send more ahead while the socket accepts all at once",
      windowed,
      [
        { type: "received", bytes: LIMITS.window / 2 },
        { type: "accepted", bytes: LIMITS.window / 2, streams: 1 },
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
        { type: "accepted", bytes: LIMITS.mark, streams: 1 },
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
      "closes without what the peer has no room for when nothing moves for long after the end of the socket",
      windowed,
      [{ type: "read", bytes: 10, streams: 1 }, { type: "local-end" }, { type: "linger-over" }],
      ["send-end", "linger", "send-close", "destroy-socket after what is left"],
    ],
    [
      "passes on the end of the peer, and sends what is queued before it ends",
      windowed,
      [
        { type: "read", bytes: 10, streams: 1 },
        { type: "remote-end" },
        { type: "local-end" },
        { type: "granted", bytes: 10 },
        { type: "sent", bytes: 10, streams: 1 },
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
  const { mark, window, queue, stalled, largestWindow } = LIMITS;
  const held: StreamEvent = { type: "received", bytes: mark + 1 };
  const ending: StreamEffect = { type: "destroy-socket", flush: true };
  test.each<[string, StreamState, StreamEvent[], StreamEffect[], Partial<StreamState>]>([
    [
      "reads its socket again only when half is sent",
      stock,
      [
        { type: "read", bytes: queue, streams: 1 },
        { type: "read", bytes: 1, streams: 1 },
        { type: "sent", bytes: queue / 2, streams: 1 },
      ],
      [{ type: "pause" }],
      { paused: true, queued: queue / 2 + 1 },
    ],
    [
      "reads its socket on while little waits",
      stock,
      [
        { type: "read", bytes: 2, streams: 1 },
        { type: "sent", bytes: 1, streams: 1 },
      ],
      [],
      { paused: false, queued: 1 },
    ],
    [
      "counts as credit what it was granted and did not send",
      windowed,
      [
        { type: "granted", bytes: 10 },
        { type: "read", bytes: 4, streams: 1 },
        { type: "sent", bytes: 4, streams: 1 },
      ],
      [],
      { credit: window + 6 },
    ],
    [
      "counts what was accepted as sent ahead until it is granted again",
      windowed,
      [
        { type: "received", bytes: window },
        { type: "accepted", bytes: 1, streams: 1 },
        { type: "received", bytes: 1 },
      ],
      [
        { type: "failed", reason: "window-exceeded" },
        { type: "send-close", flush: false },
        { type: "destroy-socket", flush: false },
      ],
      { closed: true },
    ],
    [
      "grants a quarter of its window, and no more while something is unread",
      windowed,
      [
        { type: "received", bytes: window / 2 + 1 },
        { type: "accepted", bytes: window / 2, streams: 1 },
      ],
      [{ type: "grant", bytes: window / 2 }],
      { window, owed: 0 },
    ],
    [
      "grants a quarter of a large window again",
      { ...windowed, window: 8 * window },
      [
        { type: "received", bytes: 3 * window },
        { type: "accepted", bytes: 2 * window - 1, streams: 1 },
        { type: "accepted", bytes: 1, streams: 1 },
      ],
      [{ type: "grant", bytes: 2 * window }],
      { window: 8 * window, unread: window },
    ],
    [
      "does not double its window beyond its part of those of many streams",
      windowed,
      [
        { type: "received", bytes: window / 2 },
        { type: "accepted", bytes: window / 2, streams: LIMITS.windows / (2 * window) + 1 },
      ],
      [{ type: "grant", bytes: window / 2 }],
      { window },
    ],
    [
      "doubles its window up to its part of those of many streams when the socket has accepted all",
      windowed,
      [
        { type: "received", bytes: window / 2 },
        { type: "accepted", bytes: window / 2, streams: LIMITS.windows / (2 * window) },
      ],
      [{ type: "grant", bytes: window / 2 + window }],
      { window: 2 * window, owed: 0 },
    ],
    [
      "shrinks its window by what it does not grant again where it is larger than its part",
      { ...windowed, window: 4 * window },
      [
        { type: "received", bytes: 2 * window },
        { type: "accepted", bytes: 2 * window, streams: LIMITS.windows / (3 * window) },
      ],
      [{ type: "grant", bytes: window }],
      { window: 3 * window, owed: 0, unread: 0 },
    ],
    [
      "grants nothing where its window is larger than its part by more than it owes",
      { ...windowed, window: 4 * window },
      [
        { type: "received", bytes: window },
        { type: "accepted", bytes: window, streams: LIMITS.windows },
      ],
      [],
      { window: 3 * window, owed: 0, unread: 0 },
    ],
    [
      "has a largest window",
      { ...windowed, window: largestWindow },
      [
        { type: "received", bytes: largestWindow },
        { type: "accepted", bytes: largestWindow, streams: 1 },
      ],
      [{ type: "grant", bytes: largestWindow }],
      { window: largestWindow },
    ],
    ["does not hold its connection at the mark", stock, [{ type: "received", bytes: mark }], [], { holding: false }],
    [
      "releases its connection at half the mark, and not before",
      stock,
      [held, { type: "accepted", bytes: mark / 2, streams: 1 }, { type: "accepted", bytes: 1, streams: 1 }],
      [{ type: "hold" }, { type: "release" }],
      { unread: mark / 2, holding: false, stalled: false },
    ],
    [
      "holds its connection while more than half the mark is unread",
      stock,
      [held, { type: "accepted", bytes: mark / 2, streams: 1 }],
      [{ type: "hold" }],
      { holding: true, stalled: false },
    ],
    [
      "keeps at most its limit unread while it makes no progress",
      stock,
      [held, { type: "no-progress" }, { type: "received", bytes: stalled - mark - 1 }],
      [{ type: "hold" }, { type: "release" }],
      { closed: false, stalled: true, unread: stalled },
    ],
    [
      "that made a little progress does not hold its connection again",
      stock,
      [held, { type: "no-progress" }, { type: "accepted", bytes: 1, streams: 1 }, { type: "received", bytes: mark }],
      [{ type: "hold" }, { type: "release" }],
      { stalled: true },
    ],
    [
      "that made progress to half the mark may hold its connection again",
      stock,
      [
        held,
        { type: "no-progress" },
        { type: "accepted", bytes: mark / 2 + 1, streams: 1 },
        { type: "received", bytes: mark },
      ],
      [{ type: "hold" }, { type: "release" }, { type: "hold" }],
      { stalled: false },
    ],
    [
      "passes on the end of the socket after that of the peer, and is over",
      windowed,
      [{ type: "remote-end" }, { type: "local-end" }],
      [{ type: "end-socket" }, { type: "send-end" }, ending],
      { closed: true },
    ],
    [
      "passes on each end once",
      windowed,
      [
        { type: "read", bytes: 1, streams: 1 },
        { type: "local-end" },
        { type: "local-end" },
        { type: "remote-end" },
        { type: "remote-end" },
      ],
      [{ type: "send-end" }, { type: "linger" }, { type: "end-socket" }],
      { closed: false },
    ],
  ])("%s", (_title, from, events, effects, state) => {
    const end = run(from, events);
    expect(end.effects).toEqual(effects);
    expect(end.state).toMatchObject(state);
  });

  test.each(rows)("%s", (_title, start, events, expected) => {
    expect(words(run(start, events).effects)).toEqual(expected);
  });
});

const event: fc.Arbitrary<StreamEvent> = fc.oneof(
  fc.record({
    type: fc.constantFrom("read", "received", "accepted", "sent", "granted"),
    bytes: fc.integer({ min: 1, max: 3 * LIMITS.mark }),
    streams: fc.integer({ min: 1, max: 2_000 }),
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
