import type { Node, NodeCondition, Pod, Taint } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { plan as planNode, type Observed } from "./plan.ts";
import { Zones } from "./zones.ts";

const now = Date.UTC(2026, 0, 1, 12);
const iso = (ms: number) => new Date(ms).toISOString().replace(".000Z", "Z");

function node(ready: NodeCondition["status"] | undefined, taints: readonly Taint[] = [], name = "a"): Node {
  const conditions: NodeCondition[] = ready ? [{ type: "Ready", status: ready, lastHeartbeatTime: iso(now) }] : [];
  return { apiVersion: "v1", kind: "Node", metadata: { name }, spec: { taints: [...taints] }, status: { conditions } };
}

function pod(tolerations: Record<string, unknown>[] = []): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", name: "web" },
    spec: { nodeName: "a", containers: [], tolerations },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  };
}

const unreachable: Taint = { key: "node.kubernetes.io/unreachable", effect: "NoExecute", timeAdded: iso(now) };
const minute = { key: unreachable.key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 };
const silent = [unreachable, { ...unreachable, effect: "NoSchedule" as const }];

function plan(facts: Partial<Observed> & Pick<Observed, "node">, at = now) {
  return planNode({ heardAt: now, pods: [], evictionAt: 0, ...facts }, at);
}

const taintsOf = (planned: ReturnType<typeof plan>) => {
  const step = planned.steps.find(({ type }) => type === "write-taints");
  return step?.type === "write-taints" ? step.taints.map(({ key, effect }) => `${key}:${effect}`) : undefined;
};

test("the node lifecycle controller does nothing for a node that reports, and is reconciled again when it could be silent", () => {
  expect(plan({ node: node("True") })).toEqual({ steps: [], startsEviction: false, until: now + 50_000 });
});

test("the node lifecycle controller sets the conditions of a silent node Unknown, and taints it", () => {
  const planned = plan({ node: node("True"), pods: [pod([minute])] }, now + 50_000);
  expect(planned.steps[0]).toMatchObject({
    type: "write-conditions",
    conditions: [
      {
        type: "Ready",
        status: "Unknown",
        reason: "NodeStatusUnknown",
        message: "Kubelet stopped posting node status.",
      },
      { type: "MemoryPressure", status: "Unknown", reason: "NodeStatusNeverUpdated" },
      { type: "DiskPressure", status: "Unknown" },
      { type: "PIDPressure", status: "Unknown" },
    ],
  });
  expect(taintsOf(planned)).toEqual([
    "node.kubernetes.io/unreachable:NoSchedule",
    "node.kubernetes.io/unreachable:NoExecute",
  ]);
  expect(planned.steps.map(({ type }) => type)).toContain("mark-not-ready");
  expect(planned.steps.map(({ type }) => type)).not.toContain("evict");
});

test("taints a node that is not ready, and removes the taints of the past", () => {
  expect(taintsOf(plan({ node: node("False", silent) }))).toEqual([
    "node.kubernetes.io/not-ready:NoSchedule",
    "node.kubernetes.io/not-ready:NoExecute",
  ]);
  const other: Taint = { key: "dedicated", value: "x", effect: "NoExecute" };
  expect(taintsOf(plan({ node: node("True", [...silent, other]) }))).toEqual(["dedicated:NoExecute"]);
});

test("the node lifecycle controller does not taint NoExecute before its zone's turn", () => {
  const planned = plan({ node: node("False"), evictionAt: now + 5_000 });
  expect(taintsOf(planned)).toEqual(["node.kubernetes.io/not-ready:NoSchedule"]);
  expect(planned).toMatchObject({ startsEviction: false, until: now + 5_000 });
});

test("the node lifecycle controller evicts a pod once its tolerationSeconds are over", () => {
  const facts = { node: node("Unknown", silent), pods: [pod([minute])], heardAt: now + 40_000 };
  const early = plan(facts, now + 59_000);
  expect(early.steps.map(({ type }) => type)).toEqual(["mark-not-ready"]);
  expect(early.until).toBe(now + 60_000);
  expect(plan(facts, now + 60_000).steps.map(({ type }) => type)).toContain("evict");
});

test("the node lifecycle controller evicts a pod at once that does not tolerate a taint, and never one that does for good", () => {
  const other: Taint = { key: "maintenance", effect: "NoExecute" };
  expect(plan({ node: node("True", [other]), pods: [pod()] }).steps).toMatchObject([{ type: "evict" }]);
  expect(plan({ node: node("True", [other]), pods: [pod([{ operator: "Exists" }])] }).steps).toEqual([]);
});

test("the node lifecycle controller taints a cordoned node NoSchedule", () => {
  const cordoned = node("True");
  expect(taintsOf(plan({ node: { ...cordoned, spec: { unschedulable: true } } }))).toEqual([
    "node.kubernetes.io/unschedulable:NoSchedule",
  ]);
});

test("spaces evictions of a zone by ten seconds, and stops them where most nodes or all are not ready", () => {
  const zones = new Zones();
  const bad = node("Unknown");
  const good = ["b", "c"].map((name) => node("True", [], name));
  expect(zones.nextTurn(bad, [bad, ...good])).toBe(0);
  zones.used(bad, now);
  expect(zones.nextTurn(bad, [bad, ...good])).toBe(now + 10_000);
  expect(zones.nextTurn(bad, [bad, node("False", [], "b")])).toBeUndefined();
  const many = ["a", "b", "c"].map((name) => node("Unknown", [], name));
  expect(zones.nextTurn(bad, [...many, node("True", [], "d")])).toBeUndefined();
});

test("conditions of a silent node become Unknown once, with the last heartbeat that there was", () => {
  const heard = iso(now - 9_000);
  const old = (type: string, status: NodeCondition["status"], lastHeartbeatTime?: string): NodeCondition =>
    ({ type, status, ...(lastHeartbeatTime === undefined ? {} : { lastHeartbeatTime }) }) as NodeCondition;
  const conditions = [
    old("Ready", "True", heard),
    old("DiskPressure", "Unknown"),
    old("PIDPressure", "False"),
    old("Mine", "True"),
  ];
  const at = now + 50_000;
  const [step] = plan({ node: { ...node("True"), status: { conditions } } }, at).steps;
  const stopped = { status: "Unknown", reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." };
  const never = { status: "Unknown", reason: "NodeStatusNeverUpdated", message: "Kubelet never posted node status." };
  const lastTransitionTime = iso(at);
  expect(step).toEqual({
    type: "write-conditions",
    conditions: [
      { type: "Ready", ...stopped, lastHeartbeatTime: heard, lastTransitionTime },
      { type: "MemoryPressure", ...never, lastTransitionTime },
      { type: "PIDPressure", ...stopped, lastTransitionTime },
    ],
  });
});

test.each([
  ["True", 49_999, false],
  ["True", 50_000, true],
  [undefined, 59_999, false],
  [undefined, 60_000, true],
] as const)("a node whose Ready was %s is silent after %i ms: %s", (ready, after, isSilent) => {
  const planned = plan({ node: node(ready) }, now + after);
  expect(planned.steps.some(({ type }) => type === "write-conditions")).toBe(isSilent);
  expect(planned.until).toBe(isSilent ? undefined : now + (ready ? 50_000 : 60_000));
});

test("pods of a node that is not ready are marked, those that are ready and are not being deleted", () => {
  const unready = { ...pod(), status: { conditions: [{ type: "Ready", status: "False" as const }] } };
  const other = { ...pod(), status: { conditions: [{ type: "Initialized", status: "True" as const }] } };
  const leaving = { ...pod(), metadata: { ...pod().metadata, deletionTimestamp: iso(now) } };
  const good = pod([{ operator: "Exists" }]);
  const pods = [unready, other, leaving, good];
  const steps = (found: Node) => plan({ node: found, pods, evictionAt: undefined }).steps;
  expect(steps(node("False")).filter(({ type }) => type === "mark-not-ready")).toEqual([
    { type: "mark-not-ready", pod: good },
  ]);
  expect(steps(node("True"))).toEqual([]);
  expect(steps(node(undefined))).toEqual([]);
  const evicted = plan({
    node: node("False", [{ ...unreachable, key: "maintenance" }]),
    pods: [leaving, unready],
  }).steps;
  expect(evicted.filter(({ type }) => type === "evict")).toEqual([{ type: "evict", pod: unready }]);
});

test("taints are written only where they differ, whatever their order", () => {
  const taint = (key: string, value?: string): Taint => ({
    key,
    effect: "NoSchedule",
    ...(value === undefined ? {} : { value }),
  });
  const cordon = taint("node.kubernetes.io/unschedulable");
  const cordoned = (...taints: Taint[]) => ({ ...node("True"), spec: { unschedulable: true, taints } });
  expect(plan({ node: cordoned(cordon, taint("a", "b"), taint("c")) }).steps).toEqual([]);
  expect(taintsOf(plan({ node: cordoned(taint("a", "b"), taint("c")) }))).toHaveLength(3);
  expect(plan({ node: { ...node("True"), spec: {} } }).steps).toEqual([]);
});

test.each([
  [undefined, false, undefined],
  [now, true, undefined],
  [now + 1, false, now + 1],
])("a node that is not ready uses its zone's turn, which is %s: %s", (evictionAt, startsEviction, until) => {
  const planned = plan({ node: node("False"), evictionAt, heardAt: now - 60_000 });
  expect([planned.startsEviction, planned.until]).toEqual([startsEviction, until]);
  expect(plan({ node: node("True"), evictionAt }).startsEviction).toBe(false);
});
