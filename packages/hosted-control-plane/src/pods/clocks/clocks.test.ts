import { silentLog, VirtualClock } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { createNodeClocks } from "./clocks.ts";

const MINUTE = 60_000;

test("clocks of nodes are compared once a minute; a read that fails leaves what was found", async () => {
  const clock = new VirtualClock();
  const offsets: Record<string, number> = { right: 0, wrong: 5 * MINUTE };
  let failing = false;
  const lists: unknown[] = [];
  const list = async (_type: unknown, options: { readonly namespace?: string }) => {
    lists.push(options.namespace);
    if (failing) throw new Error("forbidden");
    const items = Object.entries(offsets).map(([name, offset]) => ({
      metadata: { name },
      spec: { renewTime: new Date(clock.now() + offset).toISOString() },
    }));
    return { items };
  };
  let changes = 0;
  const clocks = createNodeClocks({
    client: { list } as unknown as KubernetesClient,
    changed: () => (changes += 1),
    clock,
    log: silentLog,
  });
  const ended = new AbortController();
  const running = clocks.run(ended.signal);
  const nodes = ["wrong", "right", "wrong"];
  /** Until it has read `count` times. */
  const reads = async (count: number): Promise<void> => {
    while (lists.length < count) {
      await clock.advance(MINUTE);
      await new Promise(setImmediate);
    }
  };
  await reads(2);
  expect(clocks.of(nodes)).toBeUndefined();
  await reads(3);
  expect(clocks.of(nodes)).toEqual([{ node: "wrong", minutes: 5 }]);
  expect(clocks.of(["right"])).toEqual([]);
  expect(changes).toBe(1);
  // Leases are up to ten seconds old: the half minute between two numbers changes nothing.
  for (const offset of [4.6, 4.4, 5.4, 5.6, 4.4]) {
    offsets["wrong"] = offset * MINUTE;
    await reads(lists.length + 1);
  }
  expect(changes).toBe(1);
  expect(clocks.of(nodes)).toEqual([{ node: "wrong", minutes: 5 }]);
  failing = true;
  await reads(13);
  expect(clocks.of(nodes)).toEqual([{ node: "wrong", minutes: 5 }]);
  failing = false;
  offsets["wrong"] = -1_000;
  await reads(15);
  expect(clocks.of(nodes)).toEqual([]);
  expect(changes).toBe(2);
  expect(lists).toEqual(Array(15).fill("kube-node-lease"));
  ended.abort();
  await running;
});
