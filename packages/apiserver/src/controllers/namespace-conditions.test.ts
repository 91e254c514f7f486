import { describe, expect, test } from "vitest";
import { terminatingConditions, type NamespaceRemains } from "./namespace-conditions.ts";

const T0 = Date.parse("2026-01-01T00:00:00Z");
const nothing: NamespaceRemains = { objects: new Map(), finalizers: new Map(), failures: [] };

function shown(remaining: NamespaceRemains): string[] {
  return (terminatingConditions(undefined, remaining, T0) ?? []).map(
    ({ type, status, reason, message }) => `${String(type)}=${String(status)} ${String(reason)}: ${String(message)}`,
  );
}

describe("the conditions of a namespace that is being deleted", () => {
  test("say that all is well where nothing remains", () => {
    expect(shown(nothing)).toEqual([
      "NamespaceDeletionDiscoveryFailure=False ResourcesDiscovered: All resources successfully discovered",
      "NamespaceDeletionGroupVersionParsingFailure=False ParsedGroupVersions: All legacy kube types successfully parsed",
      "NamespaceDeletionContentFailure=False ContentDeleted: All content successfully deleted, may be waiting on finalization",
      "NamespaceContentRemaining=False ContentRemoved: All content successfully removed",
      "NamespaceFinalizersRemaining=False ContentHasNoFinalizers: All content-preserving finalizers finished",
    ]);
  });

  test("name what remains, the finalizers that hold it and what could not be deleted", () => {
    const objects = new Map([
      ["pods.", 2],
      ["deployments.apps", 1],
    ]);
    expect(shown({ objects, finalizers: new Map([["a/b", 2]]), failures: ["out of memory"] }).slice(2)).toEqual([
      "NamespaceDeletionContentFailure=True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: out of memory",
      "NamespaceContentRemaining=True SomeResourcesRemain: Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource instances",
      "NamespaceFinalizersRemaining=True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: a/b in 2 resource instances",
    ]);
  });

  test("name fifty finalizers at most", () => {
    const finalizers = new Map(Array.from({ length: 60 }, (_, i) => [`f/${String(i).padStart(2, "0")}`, 1]));
    expect(shown({ ...nothing, finalizers })[4]).toMatch(/f\/49 in 1 resource instances and 10 more$/);
  });

  test("are written only when they change, and keep the time of their last transition", () => {
    const held = { ...nothing, objects: new Map([["pods.", 2]]) };
    const before = terminatingConditions([{ type: "Mine", status: "True" }], held, T0);
    expect(before?.[0]).toEqual({ type: "Mine", status: "True" });
    expect(terminatingConditions(before, held, T0 + 5_000)).toBeUndefined();
    const fewer = terminatingConditions(before, { ...nothing, objects: new Map([["pods.", 1]]) }, T0 + 5_000);
    const times = fewer?.flatMap(({ lastTransitionTime }) => lastTransitionTime ?? []);
    expect(times).toEqual(Array.from({ length: 5 }, () => "2026-01-01T00:00:00Z"));
    const gone = terminatingConditions(fewer, nothing, T0 + 9_000);
    expect(gone?.find(({ type }) => type === "NamespaceContentRemaining")).toMatchObject({
      status: "False",
      lastTransitionTime: "2026-01-01T00:00:09Z",
    });
  });
});
