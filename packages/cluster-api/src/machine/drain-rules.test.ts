import { describe, expect, test } from "vitest";
import type { MachineDrainRule } from "@causeway/api";
import type { Pod } from "@causeway/kubernetes";
import { cluster, machine } from "../testing/objects.ts";
import { drainBehaviorOf } from "./drain-rules.ts";

const rule = (name: string, spec: MachineDrainRule["spec"]): MachineDrainRule => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "MachineDrainRule",
  metadata: { name, namespace: "default" },
  spec,
});
const pod = (labels: Record<string, string> = {}, fields: Partial<Pod["metadata"]> = {}, phase = "Running"): Pod =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "shop", labels, ...fields },
    status: { phase },
  }) as Pod;
const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "1", controller: true };
const databases = { selector: { matchLabels: { app: "db" } } };
const late = rule("b-late", { drain: { behavior: "Drain", order: 10 }, pods: [databases] });
const wait = rule("c-wait", { drain: { behavior: "WaitCompleted", order: 5 } });
const inShop = rule("a-shop", {
  drain: { behavior: "Skip" },
  pods: [{ namespaceSelector: { matchLabels: { team: "shop" } }, selector: { matchLabels: { app: "cart" } } }],
});
const elsewhere = rule("a", {
  drain: { behavior: "Skip" },
  machines: [{ selector: { matchLabels: { pool: "gpu" } } }],
});
const otherCluster = rule("a", {
  drain: { behavior: "Skip" },
  machines: [{ clusterSelector: { matchLabels: { env: "prod" } } }],
});

describe("while a Node is drained", () => {
  test.each<[string, Pod, readonly MachineDrainRule[], string, number]>([
    ["a pod without rules is evicted", pod(), [], "Drain", 0],
    ["a pod of a DaemonSet is skipped", pod({}, { ownerReferences: [owner] }), [wait], "Skip", 0],
    [
      "a mirror of a static pod is skipped",
      pod({}, { annotations: { "kubernetes.io/config.mirror": "" } }),
      [],
      "Skip",
      0,
    ],
    ["a finished pod is skipped", pod({}, {}, "Succeeded"), [wait], "Skip", 0],
    ["a pod's own label wins over rules", pod({ "cluster.x-k8s.io/drain": "skip" }), [wait], "Skip", 0],
    ["a pod's label may ask to wait", pod({ "cluster.x-k8s.io/drain": "wait-completed" }), [], "WaitCompleted", 0],
    ["a rule gives the order of pods", pod({ app: "db" }), [late], "Drain", 10],
    ["the first rule by name wins", pod({ app: "db" }), [wait, late], "Drain", 10],
    ["a rule without selectors is for all pods", pod(), [wait, late], "WaitCompleted", 5],
    ["a selector of namespaces must match, too", pod({ app: "cart" }), [inShop], "Skip", 0],
    ["both selectors of an entry must match", pod({ app: "web" }), [inShop], "Drain", 0],
    ["a rule for other Machines does not apply", pod(), [elsewhere], "Drain", 0],
    ["a rule for other Clusters does not apply", pod(), [otherCluster], "Drain", 0],
  ])("%s", (_, given, rules, behavior, order) => {
    const namespaces = new Map([["shop", { team: "shop" }]]);
    const context = { machine: machine("w-1"), cluster: cluster(), rules, namespaces };
    expect(drainBehaviorOf(given, context)).toEqual({ behavior, order });
  });
});
