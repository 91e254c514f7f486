import type { KubeObject } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { clusterApiDefaults } from "./defaults.ts";

const object = (kind: string, spec: object): KubeObject =>
  ({ apiVersion: "cluster.x-k8s.io/v1beta1", kind, metadata: { name: "a", namespace: "default" }, spec }) as KubeObject;
const inTemplate = (version: string): object => ({ template: { spec: { version } } });

test.each<[string, object, readonly string[]]>([
  ["Cluster", { topology: { version: "1.33.1" } }, ["spec", "topology", "version"]],
  ["Machine", { version: "1.33.1" }, ["spec", "version"]],
  ["KubeadmControlPlane", { version: "1.33.1" }, ["spec", "version"]],
  ["MachineSet", inTemplate("1.33.1"), ["spec", "template", "spec", "version"]],
  ["MachineDeployment", inTemplate("1.33.1"), ["spec", "template", "spec", "version"]],
  ["MachinePool", inTemplate("1.33.1"), ["spec", "template", "spec", "version"]],
])("the version 1.33.1 of a %s is stored as v1.33.1", (kind, spec, path) => {
  expect(clusterApiDefaults.of(object(kind, spec))).toEqual([{ path, value: "v1.33.1" }]);
});

test.each<[string, string, object]>([
  ["a version with its v", "Machine", { version: "v1.33.1" }],
  ["a text that is not a version", "Machine", { version: "newest" }],
  ["a Cluster without a topology", "Cluster", {}],
  ["a version that is no text", "Machine", { version: 133 }],
  ["a kind without versions", "MachineHealthCheck", { version: "1.33.1" }],
  ["a kind with the name of a member of objects", "constructor", { version: "1.33.1" }],
])("%s remains as it is", (_, kind, spec) => {
  expect(clusterApiDefaults.of(object(kind, spec))).toEqual([]);
});
