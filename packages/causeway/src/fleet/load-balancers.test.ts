import { annotations, type Cluster } from "@causeway/api";
import { defaultCloudConfig } from "@causeway/cloud-controller-manager";
import { expect, test } from "vitest";
import { loadBalancerOf } from "./load-balancers.ts";

const cluster = (given?: Record<string, string>): Cluster => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "web", ...(given === undefined ? {} : { annotations: given }) },
  spec: {},
});

test.each([
  ["nothing", undefined, {}],
  ["a provider", { [annotations.loadBalancerProvider]: "ovn" }, { provider: "ovn" }],
  ["an algorithm", { [annotations.loadBalancerMethod]: "SOURCE_IP" }, { method: "SOURCE_IP" }],
  ["an algorithm that Octavia does not have", { [annotations.loadBalancerMethod]: "RANDOM" }, {}],
  ["monitors", { [annotations.loadBalancerMonitor]: "true" }, { createMonitor: true }],
  ["no monitors", { [annotations.loadBalancerMonitor]: "false" }, { createMonitor: false }],
] as const)("a Cluster whose annotations say %s changes only that of the defaults", (_, given, expected) => {
  expect(loadBalancerOf(cluster(given))).toEqual({
    ...defaultCloudConfig().loadBalancer,
    followNodes: true,
    ...expected,
  });
});

test("the provider of the fleet is that of clusters without one of their own", () => {
  expect(loadBalancerOf(cluster(), "ovn").provider).toBe("ovn");
  expect(loadBalancerOf(cluster({ [annotations.loadBalancerProvider]: "amphora" }), "ovn").provider).toBe("amphora");
});
