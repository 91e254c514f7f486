import { expect, test } from "vitest";
import { plan as planPod } from "./plan.ts";
import { SchedulingQueue } from "./queue.ts";
import { ClusterState } from "./state.ts";
import { info, node, view } from "./testing/objects.ts";

test("the scheduler spreads 1,000 pods of one application evenly over 100 nodes, one attempt each", () => {
  const state = new ClusterState();
  for (let i = 0; i < 100; i++)
    state.setNode(node(`node-${i}`, { labels: { "topology.kubernetes.io/zone": `z${i % 4}` } }));
  const queue = new SchedulingQueue();
  for (let i = 0; i < 1_000; i++) {
    queue.put(info(`web-${i}`, { labels: { app: "web" }, requests: { cpu: "100m", memory: "64Mi" } }), i);
  }
  let attempts = 0;
  let tested = 0;
  for (let next = queue.take(); next; next = queue.take()) {
    attempts++;
    const { pod } = next;
    const plan = planPod({
      pod,
      view: view({ nodes: state.nodes, spreadBy: { app: "web" } }),
      budgets: [],
      nominatedTo: (name) => state.nominatedTo(name),
      start: 0,
      choice: 0,
    });
    tested += plan.tested;
    const [step] = plan.steps;
    if (step?.type === "bind") state.assume(pod, step.node);
  }
  expect(attempts).toBe(1_000);
  expect(tested).toBe(100_000);
  expect(new Set(state.nodes.map(({ pods }) => pods.size))).toEqual(new Set([10]));
});
