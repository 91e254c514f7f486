import { hasCode } from "@causeway/foundation";
import { andThen, type MaybePromise } from "../json/maybe-promise.ts";
import { watchOptions } from "../registry/list-options.ts";
import { revisionOf, selectionOf, tooLarge } from "../registry/list.ts";
import { ListReader, type ListStep } from "../registry/reader.ts";
import { isOver, nextTurn, roomIn, whenOver } from "./pace.ts";
import type { Response } from "../contract/exchange.ts";
import { apiError, tooManyRequests } from "../errors/status.ts";
import { WatchStream, type WatchRequest } from "./watch-stream.ts";

/** What is read at a time of what exists, and what a watch that begins with more may take meanwhile. */
const INITIAL_STEP = 256 * 1024;
const RESERVED = 1024 * 1024;
const BOOKMARK_EVERY = 60_000;
const LAST_BOOKMARK_SECONDS = 2;
const DEFAULT_TIMEOUT_SECONDS = 1800;

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
export function serveWatch(request: WatchRequest, response: Response, closing: AbortSignal): MaybePromise<void> {
  const { call, query } = request;
  const start = startOf(request);
  const { revision: newest } = call.cluster.store;
  if (start.initial && start.revision > newest) {
    const stream = new WatchStream(request, response, selectionOf(call, query));
    stream.open();
    return stream.fail(tooLarge(start.revision, newest));
  }
  if (!start.initial) return watchFrom(request, response, { closing, start, initial: undefined });
  const reader = new ListReader(call, initialQuery(query), { texts: request.form === undefined });
  const first = reader.next(INITIAL_STEP);
  return andThen(first, (step) => watchFrom(request, response, { closing, start, initial: { reader, step } }));
}

interface Begin {
  readonly closing: AbortSignal;
  readonly start: Start;
  /** What exists, when that is to be sent first: its beginning, and what reads on. */
  readonly initial: { readonly reader: ListReader; readonly step: ListStep } | undefined;
}

function watchFrom(request: WatchRequest, response: Response, { closing, start, initial }: Begin): void {
  const { call, query } = request;
  const selection = selectionOf(call, query);
  const from = initial ? initial.reader.revision : start.revision;
  const stream = new WatchStream(request, response, selection);
  const isLong = initial !== undefined && initial.reader.position === undefined;
  const release = isLong ? reserve(initial.reader, response) : undefined;
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
    if (!isLong) begin();
  } catch (error) {
    if (!hasCode(error, "KUBERNETES_EXPIRED")) throw error;
    stream.open();
    stream.fail(error);
    return;
  }
  stream.open();
  if (initial) stream.first(initial.step);
  const mark = (): void => stream.bookmark(handle?.revision ?? 0);
  const finish = (): void => {
    if (start.marked) stream.bookmark(from, { "k8s.io/initial-events-end": "true" });
  };
  if (!isLong) finish();
  else {
    // What happens meanwhile is read from the log afterwards, so that nothing waits in memory.
    const written = tellRest(initial.reader, stream, response).then(() => {
      if (isOver(response)) return;
      finish();
      begin();
    });
    const ended = (): void => {
      initial.reader.close();
      release?.();
    };
    void written.catch((error: unknown) => stream.fail(error)).finally(ended);
  }
  const { wantsBookmarks, seconds } = start;
  const tick = wantsBookmarks ? setInterval(mark, BOOKMARK_EVERY) : undefined;
  // A watch that is about to end sends its last revision in a bookmark.
  const saysWhere = wantsBookmarks && seconds > LAST_BOOKMARK_SECONDS;
  const last = saysWhere ? setTimeout(mark, (seconds - LAST_BOOKMARK_SECONDS) * 1000) : undefined;
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

/**
 * Counts a watch that begins with much among what waits for clients to read it; the result ends that, and so does the
 * response. Throws 429.
 */
function reserve(reader: ListReader, response: Response): (() => void) | undefined {
  const release = response.inFlight?.(RESERVED);
  if (release) whenOver(response, release);
  else if (response.inFlight) {
    reader.close();
    throw tooManyRequests();
  }
  return release;
}

/** Sends what exists, step by step, at the pace of the client. */
async function tellRest(reader: ListReader, stream: WatchStream, response: Response): Promise<void> {
  const { charge = <T>(work: () => T): T => work() } = response;
  while (!reader.position) {
    await nextTurn();
    await roomIn(response);
    if (isOver(response)) return;
    const step = await charge(() => reader.next(INITIAL_STEP));
    charge(() => stream.first(step));
  }
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
