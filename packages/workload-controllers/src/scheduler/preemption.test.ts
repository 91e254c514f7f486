import { expect, test } from "vitest";
import type { NodeInfo } from "../model/node-info.ts";
import type { DisruptionBudget } from "./view.ts";
import { plan as planPod } from "./plan.ts";
import { info, node, nodeWith, view, type PodFacts } from "./testing/objects.ts";

const half: PodFacts = { requests: { cpu: "500m" } };
const small = (name: string) => node(name, { allocatable: { cpu: "1" } });

function plan(pod: PodFacts, nodes: readonly NodeInfo[], budgets: readonly DisruptionBudget[] = []) {
  return planPod({
    pod: info("high", { priority: 100, ...pod }),
    view: view({ nodes }),
    budgets,
    nominatedTo: () => [],
    start: 0,
    choice: 0,
  });
}

function victims(...of: Parameters<typeof plan>): unknown {
  const step = plan(...of).steps.find(({ type }) => type === "preempt");
  return step?.type === "preempt" ? [step.node, ...step.victims.map(({ pod }) => pod.metadata.name)] : undefined;
}

const message = (...of: Parameters<typeof plan>) => {
  const step = plan(...of).steps.at(-1);
  return step?.type === "report" ? step.message : undefined;
};

test("preemption removes no more pods than needed, the least important ones", () => {
  const nodes = [nodeWith(small("a"), info("low", { ...half, priority: 1 }), info("lower", { ...half, priority: 0 }))];
  expect(victims(half, nodes)).toEqual(["a", "lower"]);
});

test("preemption removes the pod that uses a ReadWriteOncePod claim of the pod", () => {
  const spec = { accessModes: ["ReadWriteOncePod"], volumeName: "a", resources: {} };
  const metadata = { namespace: "default", name: "data", annotations: { "pv.kubernetes.io/bind-completed": "yes" } };
  const claims = [{ apiVersion: "v1" as const, kind: "PersistentVolumeClaim" as const, metadata, spec }];
  const using = { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] };
  const volumes = [{ apiVersion: "v1" as const, kind: "PersistentVolume" as const, metadata: { name: "a" }, spec: {} }];
  const nodes = [nodeWith(small("a"), info("low", { ...using, priority: 1 })), nodeWith(small("b"))];
  const facts = { ...view({ nodes, claims, volumes }) };
  const { steps } = planPod({
    pod: info("high", { priority: 100, ...using }),
    view: facts,
    budgets: [],
    nominatedTo: () => [],
    start: 0,
    choice: 0,
  });
  expect(steps).toContainEqual(
    expect.objectContaining({ type: "preempt", node: "a", victims: [expect.objectContaining({ key: "default/low" })] }),
  );
});

test("preemption prefers the node whose most important victim is the least important", () => {
  const nodes = [
    nodeWith(small("a"), info("a1", { requests: { cpu: "1" }, priority: 10 })),
    nodeWith(small("b"), info("b1", { requests: { cpu: "1" }, priority: 5 })),
  ];
  expect(victims(half, nodes)).toEqual(["b", "b1"]);
});

test("preemption prefers the node where no disruption budget is violated, whatever the priorities", () => {
  const labels = { app: "guarded" };
  const nodes = [
    nodeWith(small("a"), info("a1", { requests: { cpu: "1" }, priority: 1, labels })),
    nodeWith(small("b"), info("b1", { requests: { cpu: "1" }, priority: 50 })),
  ];
  const budget = { namespace: "default", selector: { matchLabels: labels }, allowed: 0, disrupted: new Set<string>() };
  expect(victims(half, nodes, [budget])).toEqual(["b", "b1"]);
  expect(victims(half, nodes, [{ ...budget, allowed: 1 }])).toEqual(["a", "a1"]);
});

test("preemption prefers the node whose victims started last", () => {
  const full = { requests: { cpu: "1" } };
  const nodes = [
    nodeWith(small("a"), info("a1", { ...full, created: 1_000 })),
    nodeWith(small("b"), info("b1", { ...full, created: 5_000 })),
  ];
  expect(victims(half, nodes)).toEqual(["b", "b1"]);
});

test("preemption says that no pods of a lower priority are there", () => {
  const nodes = [nodeWith(small("a"), info("same", { requests: { cpu: "1" }, priority: 100 }))];
  expect(message(half, nodes)).toBe(
    "0/1 nodes are available: 1 Insufficient cpu. " +
      "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
  );
});

test("preemption removes nothing for a pod that never preempts", () => {
  const nodes = [nodeWith(small("a"), info("low", { requests: { cpu: "1" } }))];
  expect(message({ ...half, preemptionPolicy: "Never" }, nodes)).toBe(
    "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.",
  );
});

test("preemption waits for the pods that it removed to leave, and keeps its nomination", () => {
  const leaving = info("low", { requests: { cpu: "1" }, terminating: true, preempted: true });
  const { steps } = plan({ ...half, nominated: "a" }, [nodeWith(small("a"), leaving)]);
  expect(steps).toEqual([
    {
      type: "report",
      nominatedNode: "a",
      message:
        "0/1 nodes are available: 1 Insufficient cpu. " +
        "preemption: not eligible due to a terminating pod on the nominated node.",
    },
  ]);
});

test("preemption keeps the room that was made for a nominated pod from pods of a lower priority", () => {
  const nominated = info("nominated", { ...half, priority: 100 });
  const given = { budgets: [], nominatedTo: () => [nominated], start: 0, choice: 0 };
  const cluster = view({ nodes: [nodeWith(small("a"), info("x", half))] });
  const plain = planPod({ ...given, pod: info("plain", half), view: cluster });
  expect(plain.steps[0]).toMatchObject({ type: "report" });
  const higher = planPod({ ...given, pod: info("higher", { ...half, priority: 200 }), view: cluster });
  expect(higher.steps[0]).toMatchObject({ type: "bind", node: "a" });
});

test("preemption counts the pods of at least its priority that room was made for, and no others", () => {
  const cluster = [
    nodeWith(small("a"), info("x", { ...half, priority: 1 }), info("y", { ...half, priority: 1, created: 1_000 })),
  ];
  const removedFor = (priority: number, nominated: PodFacts) => {
    const pod = info("incoming", { ...half, priority });
    const nominatedTo = () => [info("nominated", { ...half, ...nominated })];
    const { steps } = planPod({ pod, view: view({ nodes: cluster }), budgets: [], nominatedTo, start: 0, choice: 0 });
    return steps.flatMap((step) => (step.type === "preempt" ? step.victims.map(({ key }) => key) : []));
  };
  expect(removedFor(50, { priority: 50 })).toEqual(["default/x", "default/y"]);
  expect(removedFor(50, { priority: 60 })).toEqual(["default/x", "default/y"]);
  expect(removedFor(50, { priority: 40 })).toEqual(["default/y"]);
  expect(removedFor(50, { priority: 50, requests: { cpu: "1" } })).toEqual([]);
});

test("preemption takes the best of fewer candidates where comparing all would keep other clusters waiting", () => {
  const terms = Array.from({ length: 100 }, () => ({ topologyKey: "kubernetes.io/hostname" }));
  const avoids = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
  const full = (name: string, priority: number) =>
    nodeWith(small(name), ...[0, 1, 2, 3].map((i) => info(`${name}${i}`, { requests: { cpu: "250m" }, priority })));
  const nodes = Array.from({ length: 90 }, (_, i) => full(`n${i}`, i === 89 ? 0 : 1));
  expect(victims({ requests: { cpu: "1" } }, nodes)).toEqual(["n89", "n890", "n891", "n892", "n893"]);
  const [chosen] = victims({ requests: { cpu: "1" }, affinity: avoids }, nodes) as [string];
  expect(chosen).not.toBe("n89");
});
