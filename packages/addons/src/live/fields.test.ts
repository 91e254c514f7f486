import { expect, test } from "vitest";
import { changesBetween, managersOf, parsePath, pathText, valueAt, without } from "./fields.ts";

const object = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: {
    name: "web",
    managedFields: [
      {
        manager: "ours",
        fieldsV1: { "f:spec": { "f:replicas": {}, "f:containers": { 'k:{"name":"a"}': { "f:image": {} } } } },
      },
      {
        manager: "rival",
        fieldsV1: { "f:spec": { "f:containers": { 'k:{"name":"a"}': { "f:resources": { "f:limits": {} } } } } },
      },
    ],
  },
  spec: { replicas: 2, containers: [{ name: "a", image: "x", resources: { limits: { cpu: "1" } } }, { name: "b" }] },
};

test("a path finds and removes fields, also in entries of lists by their names", () => {
  const path = parsePath("spec.containers[a].resources");
  expect(path).toEqual(["spec", "containers", "[a]", "resources"]);
  expect(pathText(path)).toBe("spec.containers[a].resources");
  expect(valueAt(object, path)).toEqual({ limits: { cpu: "1" } });
  expect(without(object, path).spec.containers).toEqual([{ name: "a", image: "x" }, { name: "b" }]);
  expect(without(object, parsePath("spec.none.there"))).toEqual(object);
});

test.for<[string, string[]]>([
  ["spec.replicas", ["ours"]],
  ["spec.containers[a].resources", ["rival"]],
  ["spec.containers[a].resources.limits.cpu", ["rival"]],
  ["spec.containers[a].image", ["ours"]],
  ["spec.paused", []],
])("the managers of %s are %j", ([path, managers]) => {
  expect(managersOf(object, parsePath(path))).toEqual(managers);
});

test("the changes of an object name the deepest fields that differ, without status and what a server counts", () => {
  const after = structuredClone(object);
  after.spec.replicas = 5;
  Object.assign(after.spec.containers[0] ?? {}, { image: "y" });
  Object.assign(after, { status: { replicas: 5 } });
  Object.assign(after.metadata, { resourceVersion: "9", labels: { a: "b" } });
  expect(changesBetween(object, after).map(({ path, from, to }) => [pathText(path), from, to])).toEqual([
    ["spec.replicas", 2, 5],
    ["spec.containers[a].image", "x", "y"],
    ["metadata.labels", undefined, { a: "b" }],
  ]);
});
