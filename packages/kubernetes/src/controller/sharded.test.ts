import { describe, expect, test } from "vitest";
import type { Shards, Source } from "./interface.ts";
import { shardedReconcile, shardedSource } from "./sharded.ts";

/** Shards whose namespaces the test sets. */
function shardsOf(...first: string[]) {
  let owned = new Map(first.map((namespace) => [namespace, new AbortController()]));
  const handlers = new Set<() => void>();
  const visits: string[] = [];
  const shards: Shards = {
    owns: (namespace) => owned.has(namespace),
    since: (namespace) => (owned.has(namespace) ? 0 : undefined),
    beforeWork: () => () => {},
    enter(namespace) {
      const life = owned.get(namespace);
      if (!life) return undefined;
      visits.push(`enter ${namespace}`);
      return { signal: life.signal, leave: () => visits.push(`leave ${namespace}`) };
    },
    onChange(handler) {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
  };
  const set = (...namespaces: string[]) => {
    const before = owned;
    owned = new Map(namespaces.map((name) => [name, before.get(name) ?? new AbortController()]));
    for (const [name, life] of before) if (!owned.has(name)) life.abort();
    for (const handler of handlers) handler();
  };
  return { shards, set, visits, subscribers: () => handlers.size };
}

const key = (namespace: string, name = "web") => ({ namespace, name });
const never = new AbortController().signal;

describe("a controller of a share of the namespaces", () => {
  test("drops the keys of other processes", async () => {
    const { shards, visits } = shardsOf("a");
    const seen: string[] = [];
    const reconcile = shardedReconcile(async ({ namespace }) => void seen.push(namespace), shards);
    await reconcile(key("a"), never);
    await reconcile(key("b"), never);
    expect(seen).toEqual(["a"]);
    expect(visits).toEqual(["enter a", "leave a"]);
  });

  test("leaves a namespace also when the reconcile fails, and reports the failure", async () => {
    const { shards, visits } = shardsOf("a");
    const reconcile = shardedReconcile(() => Promise.reject(new Error("broken")), shards);
    await expect(reconcile(key("a"), never)).rejects.toThrow("broken");
    expect(visits).toEqual(["enter a", "leave a"]);
  });

  test("aborts a reconcile whose namespace is given up, and does not count that as a failure", async () => {
    const { shards, set } = shardsOf("a");
    const reconcile = shardedReconcile(
      (_key, signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      shards,
    );
    const running = reconcile(key("a"), never);
    set("b");
    await expect(running).resolves.toBeUndefined();
  });

  test("hands on the keys of its namespaces, and all of a namespace that it gets", () => {
    const { shards, set, subscribers } = shardsOf("a");
    let emit: ((of: ReturnType<typeof key>) => void) | undefined;
    const source: Source = (enqueue) => {
      for (const namespace of ["a", "b", "c"]) enqueue(key(namespace));
      emit = enqueue;
      return () => {
        emit = undefined;
      };
    };
    const seen: string[] = [];
    const stop = shardedSource(source, shards)(({ namespace, name }) => void seen.push(`${namespace}/${name}`));
    expect(seen.splice(0)).toEqual(["a/web"]);
    emit?.(key("b", "changed"));
    emit?.(key("a", "changed"));
    expect(seen.splice(0)).toEqual(["a/changed"]);
    set("a", "b");
    expect(seen.splice(0)).toEqual(["b/web"]);
    set("b");
    set("a", "b");
    expect(seen.splice(0)).toEqual(["a/web"]);
    stop();
    expect(subscribers()).toBe(0);
    expect(emit).toBeUndefined();
  });
});
