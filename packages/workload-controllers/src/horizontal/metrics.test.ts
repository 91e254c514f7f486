import type { KubernetesClient } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { MetricSpec } from "./autoscaler.ts";
import { readMetric, readPodMetrics } from "./metrics.ts";
import { Remembered } from "./remembered.ts";

const time = "2026-03-01T12:00:00Z";
const asked: string[] = [];

/** A client whose server answers every request with `answer`. */
function place(answer: unknown) {
  const request = (_method: string, path: string, { query }: { query?: Record<string, string> } = {}) => {
    asked.splice(0, asked.length, `${path}?${new URLSearchParams(query).toString()}`);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const client = { request } as unknown as KubernetesClient;
  return { client, namespace: "default", selector: "app=web", signal: new AbortController().signal };
}

const pod = (name: string, containers: Readonly<Record<string, object>>) => ({
  metadata: { name },
  timestamp: time,
  window: "1m30s",
  containers: Object.entries(containers).map(([each, usage]) => ({ name: each, usage })),
});
const cpu = (container?: string): MetricSpec => {
  const target = { type: "Utilization" as const, averageUtilization: 50 };
  if (container === undefined) return { type: "Resource", resource: { name: "cpu", target } };
  return { type: "ContainerResource", containerResource: { name: "cpu", container, target } };
};

describe("the use of pods", () => {
  const items = [
    pod("a", { web: { cpu: "100m" }, side: { cpu: "50m" } }),
    pod("b", { web: { cpu: "200m" }, side: {} }),
    { metadata: 7 },
    null,
    { metadata: { name: "c" }, containers: [null] },
  ];

  test("is one list for all metrics, from which items that are none are left out", async () => {
    const list = await readPodMetrics(place({ items }));
    expect(asked).toEqual(["/apis/metrics.k8s.io/v1beta1/namespaces/default/pods?labelSelector=app%3Dweb"]);
    expect(await readMetric(place({}), cpu(), list)).toEqual({
      of: "pods",
      usage: new Map([["a", { value: 150, time: Date.parse(time), window: 90_000 }]]),
    });
    const ofOne = await readMetric(place({}), cpu("web"), list);
    expect(ofOne.of === "pods" && [...ofOne.usage].map(([name, { value }]) => [name, value])).toEqual([
      ["a", 100],
      ["b", 200],
    ]);
  });

  test.each<[title: string, answer: unknown, why: string]>([
    [
      "no metrics API",
      new Error("the server could not find the requested resource"),
      "fetch metrics from resource metrics API",
    ],
    ["an answer that is not a list", { items: 7 }, "the answer is not a list"],
    ["no pods", { items: [] }, "no metrics returned from resource metrics API"],
  ])("is missing, with the reason, for %s", async (_title, answer, why) => {
    const reading = await readMetric(place({}), cpu(), await readPodMetrics(place(answer)));
    expect(reading).toMatchObject({ of: "nothing", why: expect.stringContaining(why) as string });
  });
});

describe("metrics that other programs serve", () => {
  const metric = { name: "queue", selector: { matchLabels: { q: "a" } } };
  const value = { type: "Value" as const, value: "10" };
  test.each<[title: string, spec: MetricSpec, path: string]>([
    [
      "of each pod",
      { type: "Pods", pods: { metric, target: value } },
      "/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/pods/*/queue?labelSelector=app%3Dweb&metricLabelSelector=q%3Da",
    ],
    [
      "of an object",
      {
        type: "Object",
        object: { describedObject: { apiVersion: "apps/v1", kind: "Deployment", name: "db" }, metric, target: value },
      },
      "/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/deployments.apps/db/queue?metricLabelSelector=q%3Da",
    ],
    [
      "from outside",
      { type: "External", external: { metric, target: value } },
      "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue?labelSelector=q%3Da",
    ],
  ])("%s are one request", async (_title, spec, path) => {
    const items = [
      { describedObject: { name: "a" }, value: "1500m", timestamp: time },
      { describedObject: { name: "b" }, value: "2", timestamp: time },
    ];
    const reading = await readMetric(place({ items }), spec, []);
    expect(asked).toEqual([path]);
    if (reading.of === "pods") expect([...reading.usage.values()].map((each) => each.value)).toEqual([1500, 2000]);
    else expect(reading).toEqual({ of: "whole", value: spec.type === "External" ? 3500 : 1500 });
    expect(await readMetric(place({ items: [] }), spec, [])).toMatchObject({ of: "nothing" });
    expect(await readMetric(place(new Error("gone")), spec, [])).toMatchObject({ of: "nothing" });
  });
});

test("autoscalers are rivals where they select the same pods of one namespace, and while they exist", () => {
  const remembered = new Remembered();
  const key = (name: string, namespace = "default") => ({ namespace, name });
  const all = () => true;
  expect(remembered.claim(key("one"), ["a", "b"], all)).toEqual([]);
  expect(remembered.claim(key("two"), ["b"], all)).toEqual(["one"]);
  expect(remembered.claim(key("two", "other"), ["b"], all)).toEqual([]);
  expect(remembered.claim(key("three"), ["b"], ({ name }) => name !== "one")).toEqual(["two"]);
  remembered.claim(key("one"), [], all);
  remembered.forget(key("three"));
  expect(remembered.claim(key("two"), ["b"], all)).toEqual([]);
});
