import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TunnelPacket } from "../protocol/packets.ts";
import type { Deadlines } from "./deadlines.ts";
import type { Lane, Outbox } from "./outbox.ts";
import { probe } from "./probe.ts";
import type { Received } from "./received.ts";
import { openStream, planStream, type StreamEffect, type StreamEvent, type StreamState } from "./plan-stream.ts";

/** A socket and the tunnel's connection that it is joined to. */
export interface StreamOptions {
  readonly id: bigint;
  readonly socket: Duplex;
  readonly outbox: Outbox;
  readonly deadlines: Deadlines;
  readonly windowed: boolean;
  readonly credit: number;
  /** Other streams wait while this one holds the connection. */
  readonly isShared: boolean;
  /** An agent answers with "closed"; a server asks with "close". */
  readonly role: "server" | "agent";
  /** How many streams the connection has now. */
  readonly streams: () => number;
  /** The connection is not read while a stream holds it. */
  readonly hold: () => void;
  readonly release: () => void;
  readonly onClosed: (reason: string | undefined) => void;
}

type Watched = "no-progress" | "linger-over";

/** Milliseconds. A reader of 80 KiB a second makes progress in each `progress`: Unix sockets show it in 160 KiB. */
const TIMES = {
  progress: 2_000,
  linger: 2_000,
  halfClosed: 60_000,
  probe: 1_000,
  flush: 30_000,
  discard: 5_000,
} as const;

/** Performs the rules of plan-stream.ts for one socket. */
export class TunnelStream {
  readonly #options: StreamOptions;
  readonly #lane: Lane;
  /** Ends of the waits of this stream. */
  readonly #waits = new Map<Watched | "probe", () => void>();
  #state: StreamState;
  #received = 0;
  #accepted = 0;
  #failure: string | undefined;
  readonly #isSocket: boolean;

  constructor(options: StreamOptions) {
    this.#options = options;
    const { id, windowed, credit, role, socket } = options;
    this.#isSocket = socket instanceof Socket;
    this.#state = openStream({ windowed, credit, lingers: role === "server" });
    this.#lane = {
      id,
      items: [],
      frees: this.#isSocket,
      credit: () => (windowed ? this.#state.credit : Number.POSITIVE_INFINITY),
      sent: (bytes) => this.dispatch({ type: "sent", bytes, streams: options.streams() }),
    };
    socket.on("data", (chunk: Buffer) => {
      if (this.#state.closed) return;
      this.#lane.items.push(chunk);
      this.dispatch({ type: "read", bytes: chunk.length, streams: options.streams() });
      options.outbox.wake(this.#lane);
    });
    socket.on("end", () => this.#onEnd());
    socket.on("error", () => this.dispatch({ type: "local-gone" }));
    socket.on("close", () => {
      const hasEnded = socket.readableEnded && socket.writableFinished && !socket.errored;
      if (!hasEnded) this.dispatch({ type: "local-gone" });
    });
    if (socket.destroyed) this.dispatch({ type: "local-gone" });
  }

  get isClosed(): boolean {
    return this.#state.closed;
  }

  /** `received` has the packet's data, and is used until the socket accepted it. */
  handle(
    packet: Extract<TunnelPacket, { type: "data" | "close" | "closed" | "window" | "end" }>,
    received?: Received,
  ): void {
    switch (packet.type) {
      case "data": {
        const size = packet.data.length;
        this.#received += size;
        this.dispatch({ type: "received", bytes: size });
        if (this.#state.closed || size === 0) return;
        received?.use();
        this.#options.socket.write(packet.data, (error) => {
          // A stream that is no socket may pass on the bytes themselves.
          if (this.#isSocket) received?.end();
          this.#accepted += size;
          const streams = this.#options.streams();
          this.dispatch(error ? { type: "local-gone" } : { type: "accepted", bytes: size, streams });
        });
        return;
      }
      case "window":
        this.dispatch({ type: "granted", bytes: packet.bytes });
        return this.#options.outbox.wake(this.#lane);
      case "end":
        return this.dispatch({ type: "remote-end" });
      case "close":
      case "closed":
        return this.dispatch({ type: "remote-close" });
    }
  }

  dispatch(event: StreamEvent): void {
    const { state, effects } = planStream(this.#state, event);
    const hasClosed = state.closed && !this.#state.closed;
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
    if (!hasClosed) return;
    for (const cancel of this.#waits.values()) cancel();
    this.#waits.clear();
    this.#options.onClosed(this.#failure);
  }

  #perform(effect: StreamEffect): void {
    const { socket, outbox, id, role } = this.#options;
    switch (effect.type) {
      case "pause":
        return void socket.pause();
      case "resume":
        return void socket.resume();
      case "hold":
        this.#options.hold();
        if (!this.#options.isShared) return;
        return this.#watch("no-progress", TIMES.progress, () => `${this.#accepted} ${unwrittenOf(socket)}`);
      case "release":
        return this.#options.release();
      case "grant":
        return outbox.send({ type: "window", id, bytes: effect.bytes });
      case "send-end":
        this.#lane.items.push({ type: "end", id });
        return outbox.wake(this.#lane);
      case "send-close": {
        const packet =
          role === "agent" ? ({ type: "closed", id, error: "" } as const) : ({ type: "close", id } as const);
        if (effect.flush) this.#lane.items.push(packet);
        else this.#lane.items.splice(0, this.#lane.items.length, packet);
        return outbox.wake(this.#lane);
      }
      case "end-socket":
        return void socket.end();
      case "destroy-socket":
        return effect.flush ? this.#finish() : void socket.destroy();
      case "linger":
        if (this.#options.windowed) this.#probeLater();
        return this.#options.windowed
          ? this.#watch("linger-over", TIMES.halfClosed, () => `${this.#received + this.#accepted}`)
          : this.#watch("linger-over", TIMES.linger, () => `${this.#received}`);
      case "failed":
        this.#failure = effect.reason;
    }
  }

  /** Dispatches the event once `count` did not change for that time. */
  #watch(type: Watched, time: number, count: () => string): void {
    const before = count();
    const late = (): void => {
      this.#waits.delete(type);
      if (type === "no-progress" && !this.#state.holding) return;
      if (count() === before) this.dispatch({ type });
      else this.#watch(type, time, count);
    };
    this.#waits.get(type)?.();
    this.#waits.set(type, this.#options.deadlines.after(time, late));
  }

  /**
   * Ends the stream of a client that is gone, after what the client had sent. Where a probe does not show that, only
   * the wait for bytes ends it.
   */
  #probe(): void {
    const { socket } = this.#options;
    if (this.#lane.items.length > 0 || !socket.writable) return this.#probeLater();
    probe(socket, (isGone) => {
      if (this.#state.closed) return;
      if (isGone) this.dispatch({ type: "linger-over" });
      else this.#probeLater();
    });
  }

  #probeLater(): void {
    this.#waits.set(
      "probe",
      this.#options.deadlines.after(TIMES.probe, () => this.#probe()),
    );
  }

  /**
   * The socket's other end sends no more. A client that is gone needs a close and no end before it, which both sides
   * would handle for nothing: it is probed first, unless the probe would wait for what the client has still to read.
   */
  #onEnd(): void {
    const { socket, role, windowed } = this.#options;
    const isIdle = this.#lane.items.length === 0 && socket.writable && socket.writableLength === 0;
    if (role === "agent" || !windowed || !isIdle) return this.dispatch({ type: "local-end" });
    probe(socket, (isGone) => this.dispatch({ type: isGone ? "local-gone" : "local-end" }));
  }

  /**
   * Writes what is unread, and reads the rest away: a socket closed before that is reset, and its other end may lose
   * what it did not read.
   */
  #finish(): void {
    const { socket, deadlines } = this.#options;
    // Both ways have ended: it closes by itself.
    if (socket.destroyed || (socket.readableEnded && socket.writableFinished)) return;
    const destroy = (): void => void socket.destroy();
    let cancel = deadlines.after(TIMES.flush, destroy);
    socket.once("close", () => cancel());
    socket.end(() => {
      cancel();
      if (!socket.destroyed) cancel = deadlines.after(TIMES.discard, destroy);
    });
    socket.resume();
  }
}

/**
 * Bytes of a write under way that the kernel has not accepted, as Node itself counts them for the time limits of
 * sockets. What waits behind a write becomes one write, which is reported when all of it is done: of up to a megabyte,
 * a steady reader may take longer than it takes to count as one that reads nothing.
 */
function unwrittenOf(socket: Duplex): number {
  const { _handle } = socket as { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return _handle?.writeQueueSize ?? 0;
}
