import { expect, test } from "vitest";
import { ModelWorld } from "../testing/model.ts";
import { aNode, aService } from "../testing/objects.ts";
import { serviceFinalizer } from "./parameters/concern.ts";
import { dryRun } from "./dry-run.ts";

function observedWith(finalizers: readonly string[], annotations: Record<string, string> = {}) {
  const world = new ModelWorld(aService({}, annotations, { finalizers: [...finalizers] }), [
    aNode("n1", { address: "10.0.0.1" }),
  ]);
  return world.observe();
}

test.each<["add-finalizer" | "remove-finalizer", readonly string[], readonly string[]]>([
  ["remove-finalizer", ["a", serviceFinalizer, "b"], ["a", "b"]],
  ["remove-finalizer", ["a"], ["a"]],
  ["add-finalizer", ["a"], ["a", serviceFinalizer]],
])("%s of a Service with %j leaves %j", (type, before, after) => {
  const observed = dryRun(observedWith(before), [{ type }], {});
  expect(observed.service.metadata.finalizers).toEqual(after);
});

test("annotations are set, and those with null are removed", () => {
  const step = { type: "annotate", annotations: { "example.com/a": null, "example.com/b": "new" } } as const;
  const { service } = dryRun(observedWith([], { "example.com/a": "old", "example.com/c": "kept" }), [step], {});
  expect(service.metadata.annotations).toMatchObject({ "example.com/b": "new", "example.com/c": "kept" });
  expect(service.metadata.annotations).not.toHaveProperty("example.com/a");
});
