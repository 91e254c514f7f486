import { expect, test } from "vitest";
import { info, node, nodeWith, view, type PodFacts } from "../testing/objects.ts";
import type { NodeInfo } from "../../model/node-info.ts";
import { scores } from "./table.ts";

const zone = "topology.kubernetes.io/zone";
const mib = 2 ** 20;

function rate(name: string, pod: PodFacts, nodes: readonly NodeInfo[], spreadBy?: Record<string, string>) {
  const score = scores.find((one) => one.name === name);
  return score?.rate(info("rated", pod), nodes, view({ nodes, ...(spreadBy ? { spreadBy } : {}) }));
}

const web = { labels: { app: "web" } };
const near = (weight: number) => ({
  preferredDuringSchedulingIgnoredDuringExecution: [
    { weight, podAffinityTerm: { labelSelector: { matchLabels: { app: "web" } }, topologyKey: zone } },
  ],
});

test("each score has kube-scheduler's weight", () => {
  expect(Object.fromEntries(scores.map(({ name, weight }) => [name, weight]))).toEqual({
    TaintToleration: 3,
    NodeAffinity: 2,
    PodTopologySpread: 2,
    InterPodAffinity: 2,
    NodeResourcesFit: 1,
    NodeResourcesBalancedAllocation: 1,
    ImageLocality: 1,
  });
});

test("NodeResourcesFit rates the node higher that has more left, counting pods without requests", () => {
  const allocatable = { cpu: "1", memory: `${1000 * mib}` };
  const nodes = [nodeWith(node("a", { allocatable })), nodeWith(node("b", { allocatable }), info("x"))];
  // (90 % + 80 %) / 2, and (80 % + 60 %) / 2.
  expect(rate("NodeResourcesFit", {}, nodes)).toEqual([85, 70]);
});

test("NodeResourcesBalancedAllocation rates the node higher whose CPU and memory are used alike", () => {
  const nodes = [
    nodeWith(node("a", { allocatable: { cpu: "2", memory: "2Gi" } })),
    nodeWith(node("b", { allocatable: { cpu: "2", memory: "8Gi" } })),
  ];
  expect(rate("NodeResourcesBalancedAllocation", { requests: { cpu: "1", memory: "1Gi" } }, nodes)).toEqual([100, 81]);
  expect(rate("NodeResourcesBalancedAllocation", {}, nodes)).toBeUndefined();
});

test("TaintToleration rates nodes lower by their PreferNoSchedule taints", () => {
  const taint = (key: string) => ({ key, effect: "PreferNoSchedule" as const });
  const nodes = [
    nodeWith(node("a", { taints: [taint("x"), taint("y")] })),
    nodeWith(node("b", { taints: [taint("x")] })),
    nodeWith(node("c")),
  ];
  expect(rate("TaintToleration", {}, nodes)).toEqual([0, 50, 100]);
});

test("NodeAffinity adds the weights of the preferences that select a node", () => {
  const preference = (key: string) => ({ matchExpressions: [{ key, operator: "Exists" }] });
  const preferred = [
    { weight: 30, preference: preference("x") },
    { weight: 10, preference: preference("y") },
  ];
  const pod = { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } };
  const nodes = [
    nodeWith(node("a", { labels: { x: "" } })),
    nodeWith(node("b", { labels: { x: "", y: "" } })),
    nodeWith(node("c")),
  ];
  expect(rate("NodeAffinity", pod, nodes)).toEqual([75, 100, 0]);
});

test("PodTopologySpread spreads a pod without constraints with the pods of its Service", () => {
  const nodes = [nodeWith(node("a"), info("x", web)), nodeWith(node("b"))];
  const [a = 0, b = 0] = rate("PodTopologySpread", web, nodes, { app: "web" }) ?? [];
  expect(b).toBe(100);
  expect(a).toBeLessThan(b);
  expect(rate("PodTopologySpread", web, nodes)).toBeUndefined();
});

test("PodTopologySpread gives nothing to nodes without the label of a ScheduleAnyway constraint", () => {
  const constraint = { maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "ScheduleAnyway" };
  const pod = { ...web, topologySpreadConstraints: [{ ...constraint, labelSelector: { matchLabels: web.labels } }] };
  const nodes = [nodeWith(node("a")), nodeWith(node("b", { labels: { [zone]: "z" } }))];
  expect(rate("PodTopologySpread", pod, nodes)).toEqual([0, 100]);
});

test("InterPodAffinity draws a pod to those it prefers, and away from those that avoid it", () => {
  const inZone = (name: string, ...pods: Parameters<typeof info>[1][]) =>
    nodeWith(node(name, { labels: { [zone]: name } }), ...pods.map((facts, i) => info(`${name}-${i}`, facts)));
  expect(rate("InterPodAffinity", { affinity: { podAffinity: near(5) } }, [inZone("a", web), inZone("b")])).toEqual([
    100, 0,
  ]);
  expect(rate("InterPodAffinity", web, [inZone("a", { affinity: { podAntiAffinity: near(5) } }), inZone("b")])).toEqual(
    [0, 100],
  );
});

test("ImageLocality rates the node higher that has the image", () => {
  const images = [{ names: ["web:1"], sizeBytes: 1000 * mib }];
  const nodes = [nodeWith(node("a", { images })), nodeWith(node("b"))];
  // On one node of two: half of its size counts.
  expect(rate("ImageLocality", {}, nodes)).toEqual([48, 0]);
});
