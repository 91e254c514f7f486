import type { Reconcile, Shards, Source } from "./interface.ts";

/** Reconciles keys of this process's namespaces, until they are given up. A key of another's namespace is dropped. */
export function shardedReconcile(reconcile: Reconcile, shards: Shards): Reconcile {
  return async (key, signal) => {
    const visit = shards.enter(key.namespace);
    if (!visit) return;
    try {
      return await reconcile(key, AbortSignal.any([signal, visit.signal]));
    } catch (error) {
      // The process that has the namespace next begins with every object of it.
      if (visit.signal.aborted && !signal.aborted) return;
      throw error;
    } finally {
      visit.leave();
    }
  };
}

/**
 * The keys of a source that are in this process's namespaces. The source is subscribed to again when there are others,
 * since informers name everything that they hold to a new subscriber.
 */
export function shardedSource(source: Source, shards: Shards): Source {
  return (enqueue) => {
    let known = new Set<string>();
    const subscribe = () => {
      const before = known;
      known = new Set();
      let replay = true;
      const stop = source((key, after) => {
        if (!shards.owns(key.namespace)) return;
        known.add(key.namespace);
        // What was owned before has been named already.
        if (!replay || !before.has(key.namespace)) enqueue(key, after);
      });
      replay = false;
      return stop;
    };
    let stop = subscribe();
    const stopChanges = shards.onChange(() => {
      stop();
      stop = subscribe();
    });
    return () => {
      stopChanges();
      stop();
    };
  };
}
