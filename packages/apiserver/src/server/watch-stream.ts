import type { KubeObject } from "@causeway/kubernetes";
import { andThen, type MaybePromise } from "../json/maybe-promise.ts";
import { seenAll } from "../contract/resource.ts";
import type { Call } from "../contract/call.ts";
import type { Selection } from "../registry/list.ts";
import { watchedAs } from "../registry/watched.ts";
import type { ListStep } from "../registry/reader.ts";
import type { StoreEvent } from "../store/index.ts";
import { lineOf, type Form } from "../contract/watch-line-cache.ts";
import type { Response } from "../contract/exchange.ts";
import { isOver, roomIn, STEP_BYTES, writeTo } from "./pace.ts";
import { statusOf } from "../errors/status.ts";

/** What may wait in memory for a client for CATCH_UP_TIME, and what may never. */
const SLOW_CLIENT_BYTES = 16 * 1024 * 1024;
const LOST_CLIENT_BYTES = 128 * 1024 * 1024;
const CATCH_UP_TIME = 5000;
/** How many new events may wait while others are converted. */
const WAITING_EVENTS = 20_000;

type EventType = "ADDED" | "MODIFIED" | "DELETED";

/** A watch as it is served: the query's selectors and start, and how its events show objects. */
export interface WatchRequest {
  readonly call: Call;
  readonly query: URLSearchParams;
  /** The form in which the next event shows its object. Absent: whole objects. */
  readonly form?: () => Form;
  /** An object of the right kind that carries nothing but a revision and annotations. */
  bookmark(metadata: { resourceVersion: string; annotations?: Record<string, string> }): unknown;
}

/** One watch's answer: events in order, at the pace of its client. */
export class WatchStream {
  readonly #request: WatchRequest;
  readonly #response: Response;
  readonly #selection: Selection;
  readonly #kind: { group: string; version: string; resource: string };
  /** Settles when the events that are being converted have been written. */
  #pending: Promise<void> | undefined;
  /** Events that came since. */
  #waiting = 0;
  /** It is being checked whether the client catches up. */
  #isLate = false;

  constructor(request: WatchRequest, response: Response, selection: Selection) {
    this.#request = request;
    this.#response = response;
    this.#selection = selection;
    const { resource, version } = request.call;
    this.#kind = { group: resource.group, version: version.name, resource: resource.plural };
  }

  open(): void {
    this.#response.statusCode = 200;
    this.#response.setHeader("content-type", "application/json");
    this.#response.setHeader("cache-control", "no-cache, private");
    if ("flushHeaders" in this.#response) this.#response.flushHeaders();
    else this.#response.stream.respond(headersOf(this.#response));
  }

  /** Writes events; returns a promise when the client should first read what was written. */
  events(events: readonly StoreEvent[]): Promise<void> | undefined {
    const { call } = this.#request;
    if (this.#pending && (this.#waiting += events.length) > WAITING_EVENTS) this.#giveUp();
    if (call.resource.forms)
      this.#inOrder(
        () => eventsSeen(call, events),
        (shown) => this.#send(shown),
      );
    else
      this.#inOrder(
        () => events,
        (shown) => this.#send(shown),
      );
    return roomIn(this.#response);
  }

  /** Writes a part of the initial objects: as stored, or in the form that the client requested. */
  first({ texts, objects }: ListStep): void {
    const { form } = this.#request;
    const made = texts ?? objects.map((object) => (form ? form().encode(object) : JSON.stringify(object)));
    if (made.length === 0) return;
    const { metrics } = this.#request.call.cluster;
    for (const text of made) metrics.watchEvent(this.#kind, text.length);
    this.#write([Buffer.from(made.map((text) => lineOf("ADDED", text)).join(""))]);
  }

  #settled(turn: Promise<void>): void {
    if (this.#pending !== turn) return;
    this.#pending = undefined;
    this.#waiting = 0;
  }

  /** A client that does not read is disconnected; it lists again. */
  #giveUp(): void {
    this.#response.destroy(new Error("the watcher is too slow"));
  }

  /** Continues at once while nothing is being converted, and else when all earlier events have been written. */
  #inOrder<T>(make: () => MaybePromise<T>, use: (value: T) => void): void {
    try {
      const value = make();
      if (!(value instanceof Promise) && this.#pending === undefined) return use(value);
      const turn = Promise.all([value, this.#pending])
        .then(([made]) => use(made))
        .catch((error: unknown) => this.fail(error))
        .finally(() => this.#settled(turn));
      this.#pending = turn;
    } catch (error) {
      this.fail(error);
    }
  }

  #send(events: readonly StoreEvent[]): void {
    const lines: Buffer[] = [];
    for (const event of events) {
      const watched = watchedAs(event, this.#selection);
      if (watched) lines.push(this.#line(watched.type, watched.object));
    }
    this.#write(lines);
  }

  bookmark(revision: number, annotations?: Record<string, string>): void {
    if (revision <= 0) return;
    const metadata = { resourceVersion: String(revision), ...(annotations ? { annotations } : {}) };
    const line = Buffer.from(lineOf("BOOKMARK", JSON.stringify(this.#request.bookmark(metadata))));
    // Never before an event that it says was written.
    this.#inOrder(
      () => line,
      (made) => this.#write([made]),
    );
  }

  fail(error: unknown): void {
    this.#write([Buffer.from(lineOf("ERROR", JSON.stringify({ metadata: {}, ...statusOf(error) })))]);
    this.#response.end();
  }

  #line(type: EventType, object: KubeObject): Buffer {
    const { form, call } = this.#request;
    return this.#counted(call.cluster.lines.of(type, object, form?.()));
  }

  #counted(line: Buffer): Buffer {
    this.#request.call.cluster.metrics.watchEvent(this.#kind, line.length);
    return line;
  }

  #write(lines: readonly Buffer[]): void {
    const [first] = lines;
    if (first === undefined || isOver(this.#response)) return;
    const size = lines.reduce((sum, line) => sum + line.length, 0);
    // Long lines are shared with other watchers as they are, short ones make one piece.
    if (lines.length === 1) writeTo(this.#response, first);
    else if (size < STEP_BYTES) writeTo(this.#response, Buffer.concat(lines, size));
    else for (const line of lines) writeTo(this.#response, line);
    this.#watchPace();
  }

  /** A client may be behind for a moment, but not by much. */
  #watchPace(): void {
    const { writableLength } = this.#response;
    if (writableLength <= SLOW_CLIENT_BYTES) return;
    if (writableLength > LOST_CLIENT_BYTES) return this.#giveUp();
    if (this.#isLate) return;
    this.#isLate = true;
    setTimeout(() => {
      this.#isLate = false;
      if (this.#response.writableLength > SLOW_CLIENT_BYTES) this.#giveUp();
    }, CATCH_UP_TIME).unref();
  }
}

/** Events with their objects as the called version shows them. */
function eventsSeen(call: Call, events: readonly StoreEvent[]): MaybePromise<readonly StoreEvent[]> {
  const objects = events.flatMap(({ object, previous }) => [object, previous ?? object]);
  return andThen(seenAll(call, objects), (shown) => {
    if (shown === objects) return events;
    return events.map((event, i) => ({
      ...event,
      object: shown[2 * i] ?? event.object,
      ...(event.previous ? { previous: shown[2 * i + 1] ?? event.previous } : {}),
    }));
  });
}

function headersOf(response: Response): Record<string, string | number> {
  return { ":status": 200, ...(response.getHeaders() as Record<string, string>) };
}
