import type { Http2Session } from "node:http2";
import type { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { systemClock, type Clock } from "@causeway/foundation";
import type { ConnectionPool } from "./connection-pool.ts";
import type { Request } from "../contract/exchange.ts";
import type { Response } from "../contract/exchange.ts";

/**
 * How long a connection may take for its TLS handshake, its first request, a request's body, and to send the next
 * request. As kube-apiserver.
 */
const HANDSHAKE = 10_000;
const FIRST_REQUEST = 32_000;
const BODY = 60_000;
const IDLE = 90_000;
const SWEEP = 2000;

/** What the connections of one listener count against; `steady` is a monotonic clock. */
export interface ConnectionsOptions {
  readonly steady?: Clock;
  readonly pool: ConnectionPool;
  /** Connections are kept back for it. */
  readonly isManagement: boolean;
}

interface Connection {
  readonly raw: Socket;
  session?: Http2Session;
  /** Since when it waits for what comes next. */
  since: number;
  waitsFor: "handshake" | "first request" | "request";
  readonly requests: Map<Request, number>;
}

/** Time that passes evenly: setting the machine's clock closes no connection. */
const steadyClock: Clock = {
  now: () => performance.now(),
  sleep: (milliseconds, signal) => systemClock.sleep(milliseconds, signal),
};

/** The open connections of one listener. A connection that takes too long for its next step is closed. */
export class Connections {
  readonly #clock: Clock;
  readonly #pool: ConnectionPool;
  readonly #isManagement: boolean;
  readonly #open = new Map<string, Connection>();
  readonly #stopping = new AbortController();

  /** `steady` is another clock for tests. */
  constructor({ steady = steadyClock, pool, isManagement }: ConnectionsOptions) {
    this.#clock = steady;
    this.#pool = pool;
    this.#isManagement = isManagement;
    void this.#sweep();
  }

  /** Takes a connection, or ends it when there are too many. */
  accept(raw: Socket): void {
    const leave = this.#pool.enter(this, this.#isManagement);
    if (!leave) return void raw.destroy();
    const key = keyOf(raw);
    const connection: Connection = { raw, since: this.#clock.now(), waitsFor: "handshake", requests: new Map() };
    this.#open.set(key, connection);
    // A peer that is gone without a word is noticed.
    raw.setKeepAlive(true, 15_000);
    raw.once("close", () => {
      leave();
      if (this.#open.get(key) === connection) this.#open.delete(key);
    });
  }

  secured(socket: Socket): void {
    const connection = this.#open.get(keyOf(socket));
    if (connection) this.#waits(connection, "first request");
  }

  /** A session of HTTP/2, which gets a GOAWAY before its connection is closed. */
  began(session: Http2Session): void {
    const connection = this.#of(session);
    if (connection) connection.session = session;
  }

  served(request: Request, response: Response): void {
    const connection =
      "stream" in request
        ? request.stream.session && this.#of(request.stream.session)
        : this.#open.get(keyOf(request.socket));
    if (!connection) return;
    connection.requests.set(request, this.#clock.now());
    response.once("close", () => {
      connection.requests.delete(request);
      this.#waits(connection, "request");
    });
  }

  /** The connection that a TLS error is about. */
  rawOf(socket: Socket): Socket | undefined {
    return this.#open.get(keyOf(socket))?.raw;
  }

  destroyAll(): void {
    for (const { raw } of this.#open.values()) raw.destroy();
  }

  stop(): void {
    this.#stopping.abort();
  }

  #of(session: Http2Session): Connection | undefined {
    const { socket } = session;
    return socket ? this.#open.get(keyOf(socket)) : undefined;
  }

  #waits(connection: Connection, waitsFor: Connection["waitsFor"]): void {
    connection.waitsFor = waitsFor;
    connection.since = this.#clock.now();
  }

  async #sweep(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#clock.sleep(SWEEP, signal).catch(() => {});
      const now = this.#clock.now();
      for (const connection of this.#open.values()) this.#check(connection, now);
    }
  }

  #check(connection: Connection, now: number): void {
    const { requests, waitsFor, since } = connection;
    for (const [request, began] of requests) if (!isRead(request) && now - began > BODY) cut(request, connection);
    if (requests.size > 0) return;
    const limit = { handshake: HANDSHAKE, "first request": FIRST_REQUEST, request: IDLE }[waitsFor];
    if (now - since <= limit) return;
    // Frames that a session has queued are sent before the connection ends.
    connection.session?.close();
    connection.raw.destroySoon();
    if (now - since > limit + SWEEP) connection.raw.destroy();
  }
}

/**
 * Whether a request has come to its end. Node calls one without a body over HTTP/2 complete only once it was read, and
 * no code reads it.
 */
function isRead(request: Request): boolean {
  return request.complete || ("stream" in request && request.stream.endAfterHeaders);
}

/** Ends a request whose body does not come. */
function cut(request: Request, { raw }: Connection): void {
  if ("stream" in request) request.stream.close();
  else raw.destroy();
}

/** Of both ends: a client may use one port for two addresses of this machine. */
function keyOf({
  remoteAddress = "",
  remotePort = 0,
  localAddress = "",
}: Pick<Socket, "remoteAddress" | "remotePort" | "localAddress">): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}
