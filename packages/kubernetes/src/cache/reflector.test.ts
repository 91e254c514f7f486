import { CausewayError, silentLog, VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import type { KubernetesClient, WatchEvent, WatchOptions } from "../client/interface.ts";
import { Node } from "../types/core.ts";
import { reflect } from "./reflector.ts";

const settled = async () => {
  for (let i = 0; i < 10; i++) await new Promise<void>((resolve) => setImmediate(resolve));
};

type Watch = (options: WatchOptions) => AsyncGenerator<WatchEvent<Node>>;

/** Remains open without an event until it is aborted. */
async function* silent(options: WatchOptions): AsyncGenerator<WatchEvent<Node>> {
  yield await new Promise<never>((_, reject) => {
    options.signal?.addEventListener("abort", () => reject(options.signal?.reason as Error), { once: true });
  });
}

function scene(watches: Watch[], lists: (() => unknown)[] = []) {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const from: string[] = [];
  let listed = 0;
  const client = {
    server: "test",
    list: async () => {
      listed++;
      return lists.shift()?.() ?? { items: [], resourceVersion: "5" };
    },
    watch: (_: unknown, options: WatchOptions) => {
      from.push(options.resourceVersion);
      return (watches.shift() ?? silent)(options);
    },
  } as unknown as KubernetesClient;
  const mirror = { replace: () => {}, onEvent: () => {} };
  const warned: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warned.push(message) };
  const running = reflect({ client, type: Node, scope: {}, mirror, clock, log }, stop.signal);
  return {
    clock,
    warned,
    from,
    lists: () => listed,
    end: async () => {
      stop.abort();
      await running;
    },
  };
}

test("a watch that has been silent for too long is reopened at its last revision", async () => {
  const { clock, from, lists, end } = scene([
    async function* (options) {
      yield { type: "BOOKMARK", resourceVersion: "9" };
      yield* silent(options);
    },
  ]);
  await settled();
  await clock.advance(140_000);
  await settled();
  expect(from).toEqual(["5"]);
  await clock.advance(20_000);
  await settled();
  expect(from).toEqual(["5", "9"]);
  expect(lists()).toBe(1);
  await end();
});

const refuse = () => {
  throw new CausewayError("KUBERNETES_UNREACHABLE", "down");
};

test("a server that fails for less than two seconds is not warned of", async () => {
  const { clock, lists, warned, end } = scene(
    [],
    Array.from({ length: 100 }, () => refuse),
  );
  const pass = async (milliseconds: number) => {
    for (let i = 0; i < milliseconds / 100; i++) {
      await clock.advance(100);
      await settled();
    }
  };
  await pass(1_900);
  expect(lists()).toBeGreaterThan(3);
  expect(warned).toEqual([]);
  await pass(10_000);
  expect(warned).toContain("list or watch failed; retrying");
  await end();
});

test("a server that fails is called less and less often", async () => {
  const { clock, lists, end } = scene(
    [],
    Array.from({ length: 100 }, () => refuse),
  );
  for (let i = 0; i < 600; i++) {
    await clock.advance(100);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  expect(lists()).toBeGreaterThan(8);
  expect(lists()).toBeLessThan(16);
  await end();
});

test("a type that is not served is requested at least every two seconds", async () => {
  const absent = () => {
    throw new CausewayError("KUBERNETES_NOT_FOUND", "404 page not found");
  };
  const { clock, from, end } = scene(
    [],
    Array.from({ length: 12 }, () => absent),
  );
  for (let i = 0; i < 250; i++) {
    await clock.advance(100);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  expect(from).toEqual(["5"]);
  await end();
});

test("a watch that ends at once, again and again, is not opened in a tight loop", async () => {
  const empty: Watch = async function* () {
    yield* [];
  };
  const { clock, from, end } = scene(Array.from({ length: 1000 }, () => empty));
  for (let i = 0; i < 100; i++) {
    await clock.advance(100);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  expect(from.length).toBeLessThan(15);
  await end();
});

test("a revision that the server refuses again and again is given up for a new list", async () => {
  const tooLarge: Watch = async function* () {
    yield await Promise.reject(new CausewayError("KUBERNETES_TIMEOUT", "Too large resource version"));
  };
  const { clock, from, lists, end } = scene([tooLarge, tooLarge, tooLarge]);
  for (let i = 0; i < 30; i++) {
    await clock.advance(100);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  expect(lists()).toBe(2);
  expect(from).toHaveLength(4);
  await end();
});
