import { expect, test } from "vitest";
import { parse } from "yaml";
import { farewell, renderResult } from "./words.ts";

const result = {
  ready: true,
  nodes: 3,
  loadBalancer: "172.24.4.9",
  openstackCalls: 44,
  seconds: 8,
  kubeconfigs: { management: "/s/management.kubeconfig", workload: "/s/demo.kubeconfig" },
};

test("the result is one line for people, and whole for programs", () => {
  expect(renderResult(result, "table")).toBe(
    "demo ready: 1 control plane, 3 nodes, load balancer 172.24.4.9, 44 OpenStack calls, 8.0 s\n",
  );
  expect(JSON.parse(renderResult(result, "json"))).toEqual(result);
  expect(parse(renderResult(result, "yaml"))).toEqual(result);
});

test("the farewell names both kubeconfigs and four commands", () => {
  const text = farewell("/s/management.kubeconfig", "/s/demo.kubeconfig");
  expect(text.match(/^ {2}kubectl --kubeconfig \/s\//gm)).toHaveLength(4);
  expect(text).not.toContain("simulated");
  expect(farewell("/m", "/d", "/c")).toContain("no container runs");
});
