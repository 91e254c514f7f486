import { hasCode } from "@causeway/foundation";
import { andThen, type Maybe } from "../conversion/maybe.ts";
import { watchOptions } from "../registry/list-options.ts";
import { list, revisionOf, selectionOf, tooLarge, type Listed } from "../registry/list.ts";
import type { Response } from "./respond.ts";
import { apiError } from "./status.ts";
import { WatchStream, type WatchRequest } from "./watch-stream.ts";

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
  stream.initial(initial?.items ?? []);
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
