import { expect, test } from "vitest";
import { info, node, nodeWith, view, type PodFacts } from "../testing/objects.ts";
import { interPodAffinity } from "./inter-pod-affinity.ts";

const zone = "topology.kubernetes.io/zone";
const near = (labels: Readonly<Record<string, string>>) => ({
  labelSelector: { matchLabels: labels },
  topologyKey: zone,
});
const terms = { requiredDuringSchedulingIgnoredDuringExecution: [near({ app: "web" }), near({ tier: "front" })] };

test.each<[string, readonly PodFacts[], readonly string[]]>([
  [
    "no node where each term matches another pod",
    [{ labels: { app: "web" } }, { labels: { tier: "front" } }],
    ["node(s) didn't match pod affinity rules"],
  ],
  ["the zone of a pod that all terms match", [{ labels: { app: "web", tier: "front" } }], []],
])("a pod with two terms of affinity fits %s", (_, others, reasons) => {
  const here = nodeWith(node("here", { labels: { [zone]: "a" } }));
  const near = others.map((facts, i) => nodeWith(node(`n-${i}`, { labels: { [zone]: "a" } }), info(`p-${i}`, facts)));
  const prepared = interPodAffinity.prepare(
    info("tested", { affinity: { podAffinity: terms } }),
    view({ nodes: [here, ...near] }),
  );
  const failure = typeof prepared === "function" ? prepared(here) : undefined;
  expect(failure?.reasons ?? []).toEqual(reasons);
});
