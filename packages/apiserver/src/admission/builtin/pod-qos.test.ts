import { expect, test } from "vitest";
import type { Json } from "../../json/json.ts";
import { podQosClass } from "./pod-qos.ts";

const container = (requests?: Json, limits?: Json): Json => ({
  resources: { ...(requests && { requests }), ...(limits && { limits }) },
});
const BOTH = { cpu: "1", memory: "1Gi" };

test.each<[string, Json, string]>([
  ["that asks for nothing", { containers: [{}] }, "BestEffort"],
  ["that asks for no CPU", { containers: [container({ cpu: "0" }, { memory: "0" })] }, "BestEffort"],
  ["that asks for storage alone", { containers: [container({ "ephemeral-storage": "1Gi" })] }, "BestEffort"],
  ["that asks for CPU", { containers: [container({ cpu: "1m" })] }, "Burstable"],
  ["that asks for memory in one container", { containers: [{}, container({ memory: "1Mi" })] }, "Burstable"],
  ["with a limit of CPU alone", { containers: [container(undefined, { cpu: "1" })] }, "Burstable"],
  [
    "with an init container that asks for memory",
    { containers: [{}], initContainers: [container({ memory: "1Mi" })] },
    "Burstable",
  ],
  ["with limits", { containers: [container(undefined, BOTH)] }, "Guaranteed"],
  [
    "that asks for its limits, written in another way",
    { containers: [container({ cpu: "1000m", memory: "1024Mi" }, BOTH)] },
    "Guaranteed",
  ],
  [
    "that asks for less CPU than its limit",
    { containers: [container({ cpu: "999m", memory: "1Gi" }, BOTH)] },
    "Burstable",
  ],
  [
    "that asks for less memory than its limit",
    { containers: [container({ cpu: "1", memory: "1023Mi" }, BOTH)] },
    "Burstable",
  ],
  ["one of whose containers has no limits", { containers: [container(undefined, BOTH), {}] }, "Burstable"],
  [
    "one of whose init containers has no limits",
    { containers: [container(undefined, BOTH)], initContainers: [{}] },
    "Burstable",
  ],
  [
    "that asks for its limits and for less storage",
    { containers: [container({ "ephemeral-storage": "1" }, { ...BOTH, "ephemeral-storage": "2" })] },
    "Guaranteed",
  ],
  ["with limits as a whole", { resources: { limits: BOTH }, containers: [{}] }, "Guaranteed"],
  [
    "that asks for CPU as a whole",
    { resources: { requests: { cpu: "1" } }, containers: [container(undefined, BOTH)] },
    "Burstable",
  ],
  [
    "with huge pages as a whole",
    { resources: { limits: { "hugepages-2Mi": "2Mi" } }, containers: [container(undefined, BOTH)] },
    "BestEffort",
  ],
  ["that says nothing as a whole", { resources: {}, containers: [container(undefined, BOTH)] }, "Guaranteed"],
])("a pod %s has its class", (_what, spec, expected) => {
  expect(podQosClass(spec)).toBe(expected);
});
