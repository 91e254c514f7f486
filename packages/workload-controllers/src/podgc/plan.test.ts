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

  test("that ended are removed beyond the threshold, evicted ones first and then the oldest", () => {
    const many = Array.from({ length: threshold }, (_, i) => pod(`p${i}`, { phase: "Succeeded", age: 100 }));
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
});
