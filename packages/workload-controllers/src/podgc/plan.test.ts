import { describe, expect, test } from "vitest";
import type { Node, Pod } from "@causeway/kubernetes";
import { now, pod } from "../testing/objects.ts";
import type { Observed } from "./gather.ts";
import { plan, quarantine, threshold } from "./plan.ts";

const node = (ready: "True" | "False" | "Unknown", ...taints: string[]): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "one" },
  spec: { taints: taints.map((key) => ({ key, effect: "NoExecute" })) },
  status: { conditions: [{ type: "Ready", status: ready }] },
});
const removed = (observed: Observed) => plan(observed, now).steps.map((step) => step.pod.metadata.name);
const on = (found: Node | undefined, missing: number, ...pods: Pod[]): Observed => ({
  of: "node",
  node: found,
  missingSince: now - missing,
  pods,
});

describe("pods that no kubelet removes", () => {
  const out = "node.kubernetes.io/out-of-service";
  const leaving = pod("leaving", { deleted: true });
  const rows: [string, Observed, string[]][] = [
    ["of a node that is missing for 40 s are removed", on(undefined, quarantine, pod("a"), leaving), ["a", "leaving"]],
    ["of a node that is missing for less remain", on(undefined, quarantine - 1, pod("a")), []],
    ["of a node that is there remain", on(node("Unknown"), 0, pod("a"), leaving), []],
    [
      "of a node out of service are removed once they are being deleted",
      on(node("Unknown", out), 0, pod("a"), leaving),
      ["leaving"],
    ],
    ["of a node out of service that is ready remain", on(node("True", out), 0, leaving), []],
    ["that are being deleted and have no node are removed", { of: "unscheduled", pods: [leaving] }, ["leaving"]],
    ["that ended remain", { of: "ended", pods: [pod("a", { phase: "Failed" })] }, []],
  ];
  test.each(rows)("%s", (_title, observed, expected) => {
    expect(removed(observed)).toEqual(expected);
  });

  const many = Array.from({ length: threshold }, (_, i) => pod(`p${i}`, { phase: "Succeeded", age: 100 }));

  test("that ended are removed beyond the threshold, evicted ones first and then the oldest", () => {
    const evicted = pod("evicted", { phase: "Failed", age: 1 });
    const oldest = pod("oldest", { phase: "Succeeded", age: 1_000 });
    const all = [...many, oldest, { ...evicted, status: { ...evicted.status, reason: "Evicted" } }];
    expect(removed({ of: "ended", pods: all })).toEqual(["evicted", "oldest"]);
  });

  test("of a missing node are waited for, and removed with a reason", () => {
    expect(plan(on(undefined, 0, pod("a")), now).wait?.until).toBe(now + quarantine);
    expect(plan(on(undefined, quarantine, pod("a")), now).steps).toMatchObject([
      { message: "PodGC: node no longer exists" },
    ]);
  });

  test("that ended and are of one age are removed by name, those of unknown age first", () => {
    const evicted = (name: string) =>
      ({ ...pod(name, { age: 100 }), status: { phase: "Failed", reason: "Evicted" } }) as Pod;
    const undated = { ...pod("z"), metadata: { name: "z", namespace: "default" } };
    const more = [evicted("d"), evicted("c"), pod("b", { age: 100 }), pod("a", { age: 100 }), undated];
    expect(removed({ of: "ended", pods: [...many, ...more] })).toEqual(["c", "d", "z", "a", "b"]);
    expect(removed({ of: "ended", pods: many })).toEqual([]);
    expect(removed({ of: "ended", pods: many.slice(1) })).toEqual([]);
  });

  test("are removed 500 at a time, without a reason where theirs is known", () => {
    const steps = plan({ of: "unscheduled", pods: Array.from({ length: 501 }, (_, i) => pod(`p${i}`)) }, now).steps;
    expect(steps).toHaveLength(500);
    expect(steps[0]).toStrictEqual({ type: "remove-pod", pod: pod("p0") });
  });

  test("of a missing node are waited for by name, while there are any", () => {
    expect(plan(on(undefined, 0, pod("a")), now)).toEqual({
      steps: [],
      status: undefined,
      wait: { for: "a node that is missing", until: now + quarantine },
    });
    expect(plan(on(undefined, 0), now)).toEqual({ steps: [], status: undefined });
  });

  test("remain on a node of which nothing is known", () => {
    const bare = { apiVersion: "v1", kind: "Node", metadata: { name: "one" } } as Node;
    expect(removed(on(bare, 0, leaving))).toEqual([]);
    const silent = {
      ...node("Unknown", out),
      status: { conditions: [{ type: "DiskPressure", status: "True" as const }] },
    };
    expect(removed(on(silent, 0, leaving))).toEqual(["leaving"]);
    const { status: _, ...unheard } = node("Unknown", out);
    expect(removed(on(unheard, 0, leaving))).toEqual(["leaving"]);
  });
});
