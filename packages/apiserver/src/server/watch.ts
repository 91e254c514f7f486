import type { ServerResponse } from "node:http";
import { hasCode } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { andThen, type Maybe } from "../conversion/maybe.ts";
import { seenAll } from "../kinds/resource.ts";
import type { Call } from "../registry/call.ts";
import { watchOptions } from "../registry/list-options.ts";
import { list, revisionOf, selectionOf, tooLarge, type Listed, type Selection } from "../registry/list.ts";
import type { StoreEvent } from "../store/index.ts";
import type { Response } from "./respond.ts";
import { apiError, statusOf } from "./status.ts";

const BOOKMARK_EVERY = 60_000;
const LAST_BOOKMARK_SECONDS = 2;
const SLOW_CLIENT_BYTES = 16 * 1024 * 1024;
const DEFAULT_TIMEOUT_SECONDS = 1800;

type EventType = "ADDED" | "MODIFIED" | "DELETED";

/** Turns an object of the called version into the JSON text of the form the client asked for. */
export type Encode = (object: KubeObject) => string;

export interface WatchRequest {
  readonly call: Call;
  readonly query: URLSearchParams;
  readonly encode: Encode;
  /** An object of the right kind that carries nothing but a revision and annotations. */
  bookmark(metadata: { resourceVersion: string; annotations?: Record<string, string> }): unknown;
}

interface Start {
  /** Send what exists first. */
  readonly initial: boolean;
  /** End it with a marked bookmark (sendInitialEvents). */
  readonly marked: boolean;
  readonly revision: number;
  readonly wantsBookmarks: boolean;
  readonly seconds: number;
}

/**
 * Streams events until the client goes, the timeout ends, or `closing` aborts.
 * Throws (before anything is sent) 400, 410 Expired, 504.
 */
export function serveWatch(request: WatchRequest, response: Response, closing: AbortSignal): Maybe<void> {
  const { call, query } = request;
  const start = startOf(request);
  const { revision: newest } = call.cluster.store;
  if (start.initial && start.revision > newest) {
    const stream = new WatchStream(request, response, selectionOf(call, query));
    stream.open();
    return stream.fail(tooLarge(start.revision, newest));
  }
  const initial = start.initial ? list(call, initialQuery(query)) : undefined;
  return andThen(initial, (listed) => watchFrom(request, response, { closing, start, initial: listed }));
}

interface Begin {
  readonly closing: AbortSignal;
  readonly start: Start;
  /** What exists, when that is to be sent first. */
  readonly initial: Listed | undefined;
}

function watchFrom(request: WatchRequest, response: Response, { closing, start, initial }: Begin): void {
  const { call, query } = request;
  const selection = selectionOf(call, query);
  const from = initial ? Number(initial.resourceVersion) : start.revision;
  const stream = new WatchStream(request, response, selection);
  let handle: { stop(): void; readonly revision?: number } | undefined;
  const begin = (): void => {
    const { namespace } = selection;
    handle = call.cluster.store.watch(
      {
        cluster: call.cluster.name,
        resource: call.resource.storage,
        fromRevision: from,
        ...(namespace && call.resource.namespaced ? { namespace } : {}),
      },
      { onEvents: (events) => stream.events(events), onFailure: (error) => stream.fail(error) },
    );
  };
  try {
    begin();
  } catch (error) {
    if (!hasCode(error, "KUBERNETES_EXPIRED")) throw error;
    stream.open();
    stream.fail(error);
    return;
  }
  stream.open();
  for (const object of initial?.items ?? []) stream.send("ADDED", object);
  if (start.marked) stream.bookmark(from, { "k8s.io/initial-events-end": "true" });
  const { wantsBookmarks, seconds } = start;
  const mark = (): void => stream.bookmark(handle?.revision ?? 0);
  const tick = wantsBookmarks ? setInterval(mark, BOOKMARK_EVERY) : undefined;
  // A watch that is about to end tells how far it came.
  const isLong = wantsBookmarks && seconds > LAST_BOOKMARK_SECONDS;
  const last = isLong ? setTimeout(mark, (seconds - LAST_BOOKMARK_SECONDS) * 1000) : undefined;
  const timeout = setTimeout(() => response.end(), seconds * 1000);
  const end = (): void => {
    response.end();
  };
  tick?.unref();
  last?.unref();
  timeout.unref();
  closing.addEventListener("abort", end, { once: true });
  response.once("close", () => {
    handle?.stop();
    clearInterval(tick);
    clearTimeout(last);
    clearTimeout(timeout);
    closing.removeEventListener("abort", end);
  });
}

function startOf({ call, query }: WatchRequest): Start {
  const { resourceVersion, sendInitialEvents, allowWatchBookmarks, timeoutSeconds } = watchOptions(query);
  const newest = call.cluster.store.revision;
  // kube-apiserver answers a watch from what is no revision as a failure of its own.
  const revision = resourceVersion === "" ? 0 : revisionOf(resourceVersion, (why) => apiError(500, "", why));
  const wantsBookmarks = allowWatchBookmarks;
  const common = { wantsBookmarks, seconds: timeoutSeconds || DEFAULT_TIMEOUT_SECONDS };
  if (sendInitialEvents === undefined) return { ...common, initial: revision === 0, marked: false, revision };
  return {
    ...common,
    initial: sendInitialEvents,
    marked: sendInitialEvents && wantsBookmarks,
    revision: revision || newest,
  };
}

/** What exists now, by the same selectors. */
function initialQuery(query: URLSearchParams): URLSearchParams {
  const initial = new URLSearchParams();
  for (const name of ["labelSelector", "fieldSelector"]) {
    const value = query.get(name);
    if (value !== null) initial.set(name, value);
  }
  return initial;
}

class WatchStream {
  readonly #request: WatchRequest;
  readonly #response: Response;
  readonly #selection: Selection;
  readonly #kind: { group: string; version: string; resource: string };
  /** Settles when what is being converted has been told. */
  #pending: Promise<void> | undefined;

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

  events(events: readonly StoreEvent[]): void {
    const { call } = this.#request;
    if (call.resource.forms)
      this.#inOrder(
        () => eventsSeen(call, events),
        (shown) => this.#tell(shown),
      );
    else this.#tell(events);
  }

  /** Goes on at once while nothing is being converted, and else when all that came before has been told. */
  #inOrder<T>(make: () => Maybe<T>, use: (value: T) => void): void {
    try {
      const value = make();
      if (!(value instanceof Promise) && this.#pending === undefined) return use(value);
      const turn = Promise.all([value, this.#pending])
        .then(([made]) => use(made))
        .catch((error: unknown) => this.fail(error))
        .finally(() => {
          if (this.#pending === turn) this.#pending = undefined;
        });
      this.#pending = turn;
    } catch (error) {
      this.fail(error);
    }
  }

  #tell(events: readonly StoreEvent[]): void {
    let chunk = "";
    for (const event of events) {
      const type = this.#seenAs(event);
      if (!type) continue;
      // A client for which the object only left the selection sees its last selected state, at this revision.
      const left = type === "DELETED" && event.type !== "DELETED" && event.previous !== undefined;
      const object = left ? leaving(event) : event.object;
      chunk += this.#line(type, object);
    }
    this.#write(chunk);
  }

  send(type: EventType, object: KubeObject): void {
    this.#write(this.#line(type, object));
  }

  bookmark(revision: number, annotations?: Record<string, string>): void {
    if (revision <= 0) return;
    const metadata = { resourceVersion: String(revision), ...(annotations ? { annotations } : {}) };
    const line = `${JSON.stringify({ type: "BOOKMARK", object: this.#request.bookmark(metadata) })}\n`;
    // Never before an event that it says was told.
    this.#inOrder(
      () => line,
      (made) => this.#write(made),
    );
  }

  fail(error: unknown): void {
    this.#write(`${JSON.stringify({ type: "ERROR", object: { metadata: {}, ...statusOf(error) } })}\n`);
    this.#response.end();
  }

  #line(type: EventType, object: KubeObject): string {
    const line = `{"type":"${type}","object":${this.#request.encode(object)}}\n`;
    this.#request.call.cluster.metrics.watchEvent(this.#kind, line.length);
    return line;
  }

  #seenAs(event: StoreEvent): EventType | undefined {
    if (this.#selection.everything) return event.type;
    const now = event.type !== "DELETED" && this.#selection.matches(event.object);
    const before = event.previous !== undefined && this.#selection.matches(event.previous);
    if (now) return before ? "MODIFIED" : "ADDED";
    return before || (event.type === "DELETED" && this.#selection.matches(event.object)) ? "DELETED" : undefined;
  }

  #write(chunk: string): void {
    if (chunk === "" || this.#response.destroyed || this.#response.writableEnded) return;
    write(this.#response, chunk);
    // A client that does not read is let go; it lists again.
    if (this.#response.writableLength > SLOW_CLIENT_BYTES) this.#response.destroy(new Error("the watcher is too slow"));
  }
}

/** Events with their objects as the called version shows them. */
function eventsSeen(call: Call, events: readonly StoreEvent[]): Maybe<readonly StoreEvent[]> {
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

/** Both kinds of response write the same way, but their types do not say so. */
function write(response: Pick<ServerResponse, "write">, chunk: string): void {
  response.write(chunk);
}

function headersOf(response: Response): Record<string, string | number> {
  return { ":status": 200, ...(response.getHeaders() as Record<string, string>) };
}

function leaving(event: StoreEvent): KubeObject {
  const previous = event.previous ?? event.object;
  return { ...previous, metadata: { ...previous.metadata, resourceVersion: String(event.revision) } };
}
