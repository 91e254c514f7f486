import { expect, test } from "vitest";
import { info, node, nodeWith, view, type PodFacts } from "../scheduler/testing/objects.ts";
import { prepareFilters } from "../scheduler/evaluate.ts";

const labelSelector = { matchLabels: { app: "web" } };
const repeat = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
const term = { labelSelector, topologyKey: "zone" };
const apart = (count: number): PodFacts => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: repeat(count, term) } },
});
const near = (count: number): PodFacts => {
  const preferred = repeat(count, { weight: 1, podAffinityTerm: term });
  return { affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } };
};
const onNodes = (count: number): PodFacts => {
  const nodeSelectorTerms = repeat(count, { matchExpressions: [{ key: "zone", operator: "Exists" as const }] });
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
};
const spread = (count: number): PodFacts => ({
  topologySpreadConstraints: repeat(count, {
    maxSkew: 1,
    topologyKey: "zone",
    whenUnsatisfiable: "DoNotSchedule",
    labelSelector,
  }),
});
const here = () => nodeWith(node("here", { labels: { zone: "a" } }));

test.each([
  ["100 terms of anti-affinity", apart(100), undefined],
  ["101 terms of anti-affinity", apart(101), /^the pod has 101 terms of pod affinity.* at most 100$/],
  ["101 preferred terms", near(101), /^the pod has 101 terms/],
  ["101 constraints", spread(101), /^the pod has 101 terms/],
  ["500 terms about nodes, a requirement each", onNodes(500), undefined],
  ["501 terms about nodes, a requirement each", onNodes(501), /^the pod has 1002 node labels.* at most 1000$/],
  [
    "1,001 tolerations",
    { tolerations: repeat(1_001, { operator: "Exists" as const }) },
    /^the pod has 1001 node labels/,
  ],
])("the scheduler takes or refuses a pod with %s", (_, facts, expected) => {
  const { rejection } = prepareFilters(info("tested", facts), view({ nodes: [here()] }));
  if (expected === undefined) expect(rejection).toBeUndefined();
  else
    expect(rejection).toMatchObject({ filter: "SchedulingRules", message: expect.stringMatching(expected) as string });
});

test("rules beyond the limit of a pod that names its node itself keep no other pod away", () => {
  const taken = (count: number) => nodeWith(node("here", { labels: { zone: "a" } }), info("there", apart(count)));
  const web = info("web", { labels: { app: "web" } });
  const judged = (count: number) => prepareFilters(web, view({ nodes: [taken(count)] })).test(taken(count));
  expect(judged(100)?.filter).toBe("InterPodAffinity");
  expect(judged(101)).toBeUndefined();
});
