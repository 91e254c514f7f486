/**
 * One stream of a tunnel, seen from one end: a socket on this side, the tunnel on the other. Pure. The same rules hold
 * for the server, whose socket is the API server's, and for the agent, whose socket is a kubelet's.
 */

/** What one end knows of a stream. Sizes are in bytes. */
export interface StreamState {
  /** Both ends know WINDOW and END packets. */
  readonly windowed: boolean;
  /** After the socket's end, a peer without END packets may still send: a server waits for that, an agent closes. */
  readonly lingers: boolean;
  /** Bytes that may still be sent; not counted for a peer without windows. */
  readonly credit: number;
  /** Bytes read from the socket that are not sent yet. */
  readonly queued: number;
  /** Bytes received that the socket has not accepted yet. */
  readonly unread: number;
  /** Bytes that the socket accepted and the peer was not granted again. */
  readonly owed: number;
  /** What a peer with windows may have sent ahead. */
  readonly window: number;
  /** The socket is not read. */
  readonly paused: boolean;
  /** The whole connection to the peer is not read, because this stream is over its mark. */
  readonly holding: boolean;
  /** The socket accepted nothing for a while: it does not hold the connection again. */
  readonly stalled: boolean;
  readonly localEnded: boolean;
  readonly remoteEnded: boolean;
  readonly closed: boolean;
}

/** What happens to a stream: at its socket ("local-…", read, accepted), or in the tunnel. */
export type StreamEvent =
  /** `streams`: how many share the connection, and what it may keep in memory. */
  | { readonly type: "read"; readonly bytes: number; readonly streams: number }
  | { readonly type: "sent"; readonly bytes: number; readonly streams: number }
  | { readonly type: "received"; readonly bytes: number }
  | { readonly type: "accepted"; readonly bytes: number; readonly streams: number }
  | { readonly type: "granted"; readonly bytes: number }
  /** No byte was accepted since the stream began to hold the connection. */
  | { readonly type: "no-progress" }
  /** The socket's other end sends no more. */
  | { readonly type: "local-end" }
  /** The socket failed, or its other end is gone. */
  | { readonly type: "local-gone" }
  | { readonly type: "remote-end" }
  | { readonly type: "remote-close" }
  /** After `linger`, nothing came for a while, or the client is gone. */
  | { readonly type: "linger-over" }
  | { readonly type: "lost" };

/** What has to be done for a stream after an event. */
export type StreamEffect =
  | { readonly type: "pause" }
  | { readonly type: "resume" }
  | { readonly type: "hold" }
  | { readonly type: "release" }
  | { readonly type: "grant"; readonly bytes: number }
  /** After what is queued. */
  | { readonly type: "send-end" }
  | { readonly type: "send-close"; readonly flush: boolean }
  /** After what is unread. */
  | { readonly type: "end-socket" }
  /** After what is unread, if `flush`. */
  | { readonly type: "destroy-socket"; readonly flush: boolean }
  /** Ask for `linger-over` when nothing was received for a while. */
  | { readonly type: "linger" }
  | { readonly type: "failed"; readonly reason: "stalled" | "window-exceeded" | "tunnel-lost" };

/** A stream after an event. */
export interface Next {
  readonly state: StreamState;
  readonly effects: readonly StreamEffect[];
}

/** Bounds of the bytes that a stream keeps in memory. */
export const LIMITS = {
  /** A peer with windows sends so much ahead at first, in bytes, */
  window: 48 * 1024,
  /** so much at most, */
  largestWindow: 4 * 1024 * 1024,
  /** and no more than its part of so much for all streams of the connection that it opens windows for. */
  windows: 10 * 1024 * 1024,
  /** The socket is not read while so much waits to be sent, */
  queue: 256 * 1024,
  /** of all streams of a connection together so much, */
  queues: 8 * 1024 * 1024,
  /** but of each at least so much. */
  leastQueue: 32 * 1024,
  /** A peer without windows is not read while a stream that makes progress has so much unread. */
  mark: 1024 * 1024,
  /** A stream that makes no progress ends with so much unread. */
  stalled: 8 * 1024 * 1024,
} as const;

/** A stream through which nothing went yet. */
export function openStream(kind: Pick<StreamState, "windowed" | "lingers" | "credit">): StreamState {
  return {
    ...kind,
    queued: 0,
    unread: 0,
    owed: 0,
    window: LIMITS.window,
    paused: false,
    holding: false,
    stalled: false,
    localEnded: false,
    remoteEnded: false,
    closed: false,
  };
}

/** What each of so many streams of a connection may have queued, in bytes. */
export function roomOf(streams: number): number {
  return Math.max(LIMITS.leastQueue, Math.min(LIMITS.queue, Math.floor(LIMITS.queues / Math.max(1, streams))));
}

/** What the window of each of so many streams of a connection may grow to, in bytes. */
export function largestWindowOf(streams: number): number {
  return Math.max(LIMITS.window, Math.min(LIMITS.largestWindow, Math.floor(LIMITS.windows / streams)));
}

/** What follows from an event. Nothing follows after the end of the stream. */
export function planStream(state: StreamState, event: StreamEvent): Next {
  if (state.closed) return { state, effects: [] };
  switch (event.type) {
    case "read":
      return onRead(state, event);
    case "sent":
      return onSent(state, event);
    case "received":
      return onReceived(state, event.bytes);
    case "accepted":
      return onAccepted(state, event);
    case "granted":
      return { state: { ...state, credit: state.credit + event.bytes }, effects: [] };
    case "no-progress":
      if (!state.holding) return { state, effects: [] };
      return { state: { ...state, holding: false, stalled: true }, effects: [{ type: "release" }] };
    case "local-end":
      return onLocalEnd(state);
    case "remote-end":
      return onRemoteEnd(state);
    case "linger-over":
      // Of a stream that is over here no credit is counted any more: behind data that the peer has no room for, the
      // close would never be sent.
      return closing(state, [
        { type: "send-close", flush: !state.windowed || state.queued === 0 },
        { type: "destroy-socket", flush: true },
      ]);
    case "local-gone":
      return closing(state, [{ type: "send-close", flush: false }]);
    case "remote-close":
      return closing(state, [{ type: "destroy-socket", flush: true }]);
    case "lost":
      return failing(state, "tunnel-lost");
  }
}

type Share = Pick<Extract<StreamEvent, { type: "read" }>, "bytes" | "streams">;

function onRead(state: StreamState, { bytes, streams }: Share): Next {
  const queued = state.queued + bytes;
  const paused = queued >= roomOf(streams);
  return {
    state: { ...state, queued, paused: state.paused || paused },
    effects: paused && !state.paused ? [{ type: "pause" }] : [],
  };
}

function onSent(state: StreamState, { bytes, streams }: Share): Next {
  const queued = state.queued - bytes;
  const resumed = state.paused && queued <= roomOf(streams) / 2;
  const next = { ...state, queued, credit: state.credit - bytes, paused: state.paused && !resumed };
  if (isOver(next)) return closing(next, [{ type: "destroy-socket", flush: true }]);
  return { state: next, effects: resumed ? [{ type: "resume" }] : [] };
}

function onReceived(state: StreamState, bytes: number): Next {
  const unread = state.unread + bytes;
  const next = { ...state, unread };
  if (state.windowed) {
    return unread + state.owed > state.window ? failing(next, "window-exceeded", true) : { state: next, effects: [] };
  }
  if (state.stalled) return unread > LIMITS.stalled ? failing(next, "stalled", true) : { state: next, effects: [] };
  if (state.holding || unread <= LIMITS.mark) return { state: next, effects: [] };
  return { state: { ...next, holding: true }, effects: [{ type: "hold" }] };
}

function onAccepted(state: StreamState, { bytes, streams }: Share): Next {
  const unread = state.unread - bytes;
  const effects: StreamEffect[] = [];
  let owed = state.owed + bytes;
  let { window } = state;
  if (!state.windowed) owed = 0;
  else if (owed >= Math.max(window / 4, LIMITS.window / 2)) {
    const more = growthOf(window, { owed, unread, largest: largestWindowOf(streams) });
    if (owed + more > 0) effects.push({ type: "grant", bytes: owed + more });
    window += more;
    owed = 0;
  }
  const isReleased = state.holding && unread <= LIMITS.mark / 2;
  if (isReleased) effects.push({ type: "release" });
  const stalled = state.stalled && unread > LIMITS.mark / 2;
  return { state: { ...state, unread, owed, window, stalled, holding: state.holding && !isReleased }, effects };
}

/** How much a window grows while its socket accepts all at once, or shrinks where more streams share the connection. */
function growthOf(window: number, now: { readonly owed: number; readonly unread: number; readonly largest: number }) {
  // A grant is not withdrawn: a window shrinks by what is not granted again.
  if (window > now.largest) return -Math.min(now.owed, window - now.largest);
  return now.unread === 0 && 2 * window <= now.largest ? window : 0;
}

function onLocalEnd(state: StreamState): Next {
  if (state.localEnded) return { state, effects: [] };
  const next = { ...state, localEnded: true };
  // A peer without END packets can only be requested to close, which loses what it has still to send: that is waited
  // for.
  if (!state.windowed && state.lingers) return { state: next, effects: [{ type: "linger" }] };
  if (!state.windowed) {
    return closing(next, [
      { type: "send-close", flush: true },
      { type: "destroy-socket", flush: true },
    ]);
  }
  // A client that is gone looks like one that sends no more, and its target may never end: that is waited for, too.
  const lingers: StreamEffect[] = state.lingers && !state.remoteEnded ? [{ type: "linger" }] : [];
  if (!isOver(next)) return { state: next, effects: [{ type: "send-end" }, ...lingers] };
  return closing(next, [{ type: "send-end" }, { type: "destroy-socket", flush: true }]);
}

function onRemoteEnd(state: StreamState): Next {
  if (state.remoteEnded) return { state, effects: [] };
  const next = { ...state, remoteEnded: true };
  if (!isOver(next)) return { state: next, effects: [{ type: "end-socket" }] };
  return closing(next, [{ type: "destroy-socket", flush: true }]);
}

/** Both ends sent all they had. */
function isOver({ localEnded, remoteEnded, queued }: StreamState): boolean {
  return localEnded && remoteEnded && queued === 0;
}

function closing(state: StreamState, effects: readonly StreamEffect[]): Next {
  const release: StreamEffect[] = state.holding ? [{ type: "release" }] : [];
  return { state: { ...state, closed: true, holding: false }, effects: [...release, ...effects] };
}

type Failure = Extract<StreamEffect, { type: "failed" }>["reason"];

function failing(state: StreamState, reason: Failure, isPeerThere = false): Next {
  const close: StreamEffect[] = isPeerThere ? [{ type: "send-close", flush: false }] : [];
  return closing(state, [{ type: "failed", reason }, ...close, { type: "destroy-socket", flush: false }]);
}
