import { describe, expect, test } from "vitest";
import { CausewayError, VirtualClock } from "@causeway/foundation";
import type { KubernetesClient, Node, Pod } from "@causeway/kubernetes";
import { aNode } from "../../testing/objects.ts";
import { ServingNodesMemory } from "./serving-nodes.ts";

const ready = [{ type: "Ready", status: "True" as const }];
const node: Node = { ...aNode("n1"), status: { conditions: ready } };
const proxy: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "kube-proxy-1" },
  spec: { nodeName: "n1", containers: [] },
  status: { conditions: ready },
};
const { signal } = new AbortController();

/** What an API server lists, which may be an error; and how often it was called. */
function server(...answers: readonly (readonly Pod[] | Error)[]) {
  let called = 0;
  const list = async () => {
    const answer = answers[Math.min(called, answers.length - 1)] ?? [];
    called += 1;
    if (answer instanceof Error) throw answer;
    return { apiVersion: "v1", kind: "PodList", metadata: {}, items: [...answer] };
  };
  const clock = new VirtualClock(0);
  return {
    memory: new ServingNodesMemory({ list: list as unknown as KubernetesClient["list"] }, clock),
    clock,
    called: () => called,
  };
}

describe("Nodes that are seen to serve", () => {
  test("cost one list a second, however many Services ask", async () => {
    const { memory, clock, called } = server([proxy]);
    await Promise.all(Array.from({ length: 50 }, () => memory.of([node], signal)));
    await clock.advance(999);
    await memory.of([node], signal);
    expect(called()).toBe(1);
    await clock.advance(1);
    await memory.of([node], signal);
    expect(called()).toBe(2);
  });

  test("cost none where no Node is new", async () => {
    const { memory, called } = server([proxy]);
    expect([await memory.of([], signal), called()]).toEqual([{ servingSince: new Map() }, 0]);
  });

  test("do so since they were first seen; one that ceased begins again", async () => {
    const { memory, clock } = server([proxy], [proxy], [{ ...proxy, status: {} }], [proxy]);
    const seen: unknown[] = [];
    for (let round = 0; round < 4; round += 1) {
      const found = await memory.of([node], signal);
      seen.push(found && "servingSince" in found ? found.servingSince.get("n1") : found);
      await clock.advance(1_000);
    }
    expect(seen).toEqual([0, 0, undefined, 3_000]);
  });

  test("are another Node's of that name once it was deleted", async () => {
    const { memory, clock } = server([proxy]);
    await memory.of([node], signal);
    memory.forget(node);
    await clock.advance(5_000);
    expect(await memory.of([node], signal)).toEqual({ servingSince: new Map([["n1", 5_000]]) });
  });

  test("are not known where Pods may not be listed, which is tried again after five minutes", async () => {
    const { memory, clock, called } = server(new CausewayError("KUBERNETES_FORBIDDEN", "pods is forbidden"), [proxy]);
    expect(await memory.of([node], signal)).toEqual({ unreadable: "pods is forbidden" });
    await clock.advance(299_999);
    expect([await memory.of([node], signal), called()]).toEqual([{ unreadable: "pods is forbidden" }, 1]);
    await clock.advance(1);
    expect(await memory.of([node], signal)).toHaveProperty("servingSince");
  });

  test("are listed again at once after another failure, which fails the reconcile", async () => {
    const { memory } = server(new Error("connection reset"), [proxy]);
    await expect(memory.of([node], signal)).rejects.toThrow("connection reset");
    expect(await memory.of([node], signal)).toHaveProperty("servingSince");
  });
});
