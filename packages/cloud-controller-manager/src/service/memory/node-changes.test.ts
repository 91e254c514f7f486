import { VirtualClock } from "@causeway/foundation";
import type { Change, Node } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { aNode } from "../../testing/objects.ts";
import { nodeChanges } from "./node-changes.ts";

function watched() {
  const clock = new VirtualClock(0);
  const passed: number[] = [];
  let emit: (change: Change<Node>) => void = () => {};
  let changes = 0;
  const stop = nodeChanges({
    clock,
    nodes: {
      onChange(handler) {
        emit = handler;
        return () => (emit = () => {});
      },
    },
    changed: () => (changes += 1),
    keys: () => [{ namespace: "default", name: "web" }],
  })(() => passed.push(clock.now()));
  return { clock, passed, stop, change: (change: Change<Node>) => emit(change), changes: () => changes };
}

const added = (name: string): Change<Node> => ({ type: "added", object: aNode(name, { address: "10.0.0.1" }) });

describe("changes of nodes", () => {
  test("reconcile a Service at once, and those of a burst four times a second at most", async () => {
    const { clock, passed, change, changes } = watched();
    for (let i = 0; i < 100; i += 1) {
      change(added(`n${i}`));
      await clock.advance(10);
    }
    await clock.advance(10_000);
    expect(passed).toEqual([0, 250, 500, 750, 1_000]);
    expect(changes()).toBe(100);
  });

  test("that do not concern members reconcile nothing", () => {
    const { passed, change, changes } = watched();
    const object = aNode("n", { address: "10.0.0.1" });
    change({ type: "updated", object, previous: structuredClone(object) });
    expect([passed, changes()]).toEqual([[], 0]);
  });

  test("reconcile nothing once the controller has stopped", async () => {
    const { clock, passed, change, stop } = watched();
    change(added("a"));
    change(added("b"));
    stop();
    await clock.advance(1_000);
    expect(passed).toEqual([0]);
  });
});
