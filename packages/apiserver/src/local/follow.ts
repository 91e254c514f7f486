import type { KubeObject } from "@causeway/kubernetes";
import type { Call } from "../contract/call.ts";
import { apiVersionOf, seenAll } from "../contract/resource.ts";
import { list, readForms, selectionOf } from "../registry/list.ts";
import { watchedAs, type Watched } from "../registry/watched.ts";
import type { StoreEvent } from "../store/index.ts";

/** What a client in this process lists and watches. */
export interface Follower {
  /** Selectors, as in a URL. */
  readonly query: URLSearchParams;
  readonly onList: (items: readonly KubeObject[], resourceVersion: string) => void;
  readonly onEvent: (event: Watched) => void;
}

/**
 * Hands over what there is, then each change, until `signal` aborts, or a change comes after the CRD of the kind
 * was written: objects may have another form since, so all are to be read again. Rejects when the history that is still
 * to be read was compacted.
 */
export async function follow(call: Call, { query, onList, onEvent }: Follower, signal: AbortSignal): Promise<void> {
  const { items, resourceVersion } = await list(call, query);
  signal.throwIfAborted();
  onList(items, resourceVersion);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const isServed = (): boolean => {
    const { group, plural } = call.resource;
    return call.cluster.catalog.find(group, call.version.name, plural)?.version === call.version;
  };
  const handle = watched(
    call,
    { query, revision: Number(resourceVersion) },
    { onEvent: (event) => (isServed() ? onEvent(event) : resolve()), onFailure: reject },
  );
  const end = (): void => resolve();
  signal.addEventListener("abort", end, { once: true });
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", end);
    handle.stop();
  }
}

/** Events that wait for a reader, before the rest is read from the log at its pace. */
const AHEAD = 1000;

/** The events after a revision, until `signal` aborts. Throws 410 Expired. */
export async function* events(
  call: Call,
  from: { readonly query: URLSearchParams; readonly revision: number },
  signal: AbortSignal,
): AsyncGenerator<Watched, void> {
  const waiting: Watched[] = [];
  let failure: { readonly error: unknown } | undefined;
  let wake = Promise.withResolvers<void>();
  let room = Promise.withResolvers<void>();
  const handle = watched(call, from, {
    onEvent: (event) => {
      waiting.push(event);
      wake.resolve();
    },
    onFailure: (error) => {
      failure = { error };
      wake.resolve();
    },
    room: () => (waiting.length > AHEAD ? room.promise : undefined),
  });
  const end = (): void => wake.resolve();
  signal.addEventListener("abort", end, { once: true });
  try {
    while (!signal.aborted) {
      for (const event of waiting.splice(0)) yield event;
      room.resolve();
      room = Promise.withResolvers<void>();
      if (failure) throw failure.error;
      if (waiting.length > 0) continue;
      await wake.promise;
      wake = Promise.withResolvers<void>();
    }
  } finally {
    room.resolve();
    signal.removeEventListener("abort", end);
    handle.stop();
  }
}

interface Listener {
  readonly onEvent: (event: Watched) => void;
  readonly onFailure: (error: unknown) => void;
  /** What to wait for before more is handed over. */
  readonly room?: () => Promise<void> | undefined;
}

function watched(
  call: Call,
  { query, revision }: { readonly query: URLSearchParams; readonly revision: number },
  { onEvent, onFailure, room }: Listener,
): { stop(): void } {
  const selection = selectionOf(call, query);
  const { cluster, resource } = call;
  const hand = (all: readonly StoreEvent[]): void => {
    for (const event of all) {
      const seen = watchedAs(event, selection);
      if (seen) onEvent(seen);
    }
  };
  const { namespace } = selection;
  return cluster.store.watch(
    {
      cluster: cluster.name,
      resource: resource.storage,
      fromRevision: revision,
      ...(namespace && resource.namespaced ? { namespace } : {}),
    },
    {
      onEvents: (all) => {
        try {
          const shown = shownEvents(call, all);
          // The next events are read from the log once these were handed over, so that their order remains.
          if (shown instanceof Promise) return shown.then(hand).catch(onFailure);
          hand(shown);
        } catch (error) {
          // The store gives no more to a listener that throws: who follows has to begin again.
          return onFailure(error);
        }
        return room?.();
      },
      onFailure,
    },
  );
}

/** Events with their objects as the called version shows them. */
function shownEvents(call: Call, all: readonly StoreEvent[]): readonly StoreEvent[] | Promise<readonly StoreEvent[]> {
  const { resource, version } = call;
  const isStored = !version.fromStored && resource.storedAs === apiVersionOf(resource.group, version.name);
  if (isStored && !resource.forms && !resource.strategy.shown) return all;
  const objects = all.flatMap(({ object, previous }) => [object, previous ?? object]);
  const put = (shown: readonly KubeObject[]): readonly StoreEvent[] => {
    const read = readForms(call, shown);
    return all.map((event, i) => ({
      ...event,
      object: read[2 * i] ?? event.object,
      ...(event.previous ? { previous: read[2 * i + 1] ?? event.previous } : {}),
    }));
  };
  const shown = seenAll(call, objects);
  return shown instanceof Promise ? shown.then(put) : put(shown);
}
