import { describe, expect, test } from "vitest";
import type { CausewayError } from "@causeway/foundation";
import { Tables } from "../wire/tables.ts";
import { BuiltInTypes, mergeStrategically } from "./index.ts";

const TYPES = new BuiltInTypes(new Tables());
const POD = { apiVersion: "v1", kind: "Pod" };

type Items = readonly unknown[];

/** What work gives, or why it gives nothing. */
function outcome(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    const { code, message, hint } = error as CausewayError;
    // What the author of the patch can do about it.
    if (message.includes("merge key: ")) expect(hint).toBe("Give every item of the list its key.");
    if (message.includes("patch type")) expect(hint ?? "Use replace or delete.").toBe("Use replace or delete.");
    return `${code}: ${message}`;
  }
}

/** The spec that comes of a Pod's, or why there is none. */
function merged(spec: unknown, patch: unknown): unknown {
  return outcome(() => {
    const { merged: pod } = mergeStrategically({ ...POD, spec }, { spec: patch }, TYPES);
    return (pod as { spec: unknown }).spec;
  });
}

const named = (names: string): Items => names.split("").map((name) => ({ name }));
const namesOf = (spec: unknown): string =>
  (spec as { containers: { name: string }[] }).containers.map(({ name }) => name).join("");

// The rows on order are those of apimachinery's pkg/util/strategicpatch/patch_test.go.
describe("the order of a list that merges by key", () => {
  test.each<[string, string, string, string | undefined, string]>([
    ["is that of the live list for items that the patch does not name", "abc", "", undefined, "abc"],
    ["begins with the items of the patch that are new", "ab", "c", undefined, "cab"],
    ["is that of the patch where it names items", "abc", "ca", undefined, "bca"],
    ["is the one that is requested", "abc", "", "cba", "cba"],
    ["is the one that is requested, with what is new", "ab", "c", "bca", "bca"],
    ["has items that are not named where they were: before", "xab", "", "ba", "xba"],
    ["has items that are not named where they were: between", "axb", "", "ab", "axb"],
    ["has items that are not named where they were: after", "abx", "", "ba", "bax"],
    ["has several that are not named in their order", "xaybz", "", "ab", "xaybz"],
    ["may name items that are not there", "ab", "", "bca", "ba"],
  ])("%s", (_what, live, patch, order, expected) => {
    const given = {
      ...(patch === "" ? {} : { containers: named(patch) }),
      ...(order === undefined ? {} : { "$setElementOrder/containers": named(order) }),
    };
    expect(namesOf(merged({ containers: named(live) }, given))).toBe(expected);
  });

  test.each<[string, unknown, unknown]>([
    [
      "names all that the patch has",
      { containers: named("ab"), "$setElementOrder/containers": named("a") },
      "PATCH_DIRECTIVE: The order in patch list:\n[map[name:a] map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    ],
    [
      "names it in the patch's order",
      { containers: named("ab"), "$setElementOrder/containers": named("ba") },
      "PATCH_DIRECTIVE: The order in patch list:\n[map[name:a] map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:b] map[name:a]]\n",
    ],
    [
      "need not name what is deleted",
      { containers: [{ name: "c", $patch: "delete" }], "$setElementOrder/containers": named("ba") },
      { containers: named("ba") },
    ],
    ["may be empty", { containers: named("c"), "$setElementOrder/containers": [] }, { containers: named("cab") }],
    ["may be all there is", { "$setElementOrder/containers": named("b") }, { containers: named("ab") }],
    [
      "is a list",
      { "$setElementOrder/containers": "a" },
      "PATCH_DIRECTIVE: expected a []interface {}, but received a string",
    ],
    [
      "is not null",
      { "$setElementOrder/containers": null },
      "PATCH_DIRECTIVE: expected a []interface {}, but received a %!s(<nil>)",
    ],
    [
      "has items with the key",
      { containers: named("c"), "$setElementOrder/containers": [{ x: 1 }] },
      "PATCH_DIRECTIVE: map: map[x:1] does not contain declared merge key: name",
    ],
    [
      "has items that are objects",
      { containers: named("c"), "$setElementOrder/containers": ["c"] },
      "PATCH_DIRECTIVE: expected a map[string]interface {}, but received a string",
    ],
    ["is of a list", { $setElementOrder: [] }, "PATCH_MALFORMED: invalid patch format of setElementOrder list"],
  ])("%s", (_what, patch, expected) => {
    expect(merged({ containers: named("ab") }, patch)).toEqual(expected);
  });

  test("is of items that are there", () => {
    const none = "PATCH_DIRECTIVE: no elements in any of the given slices";
    expect(merged({ containers: [] }, { "$setElementOrder/containers": named("a") })).toBe(none);
  });

  test("may be that of a list that is not there, or new", () => {
    expect(merged({ a: 1 }, { "$setElementOrder/containers": named("a") })).toEqual({ a: 1 });
    const brought = { containers: named("ba"), "$setElementOrder/containers": named("ba") };
    expect(merged({}, brought)).toEqual({ containers: named("ba") });
    const directed = {
      containers: [{ name: "x", $patch: "delete" }, { name: "a" }],
      "$setElementOrder/containers": named("a"),
    };
    expect(merged({}, directed)).toEqual({ containers: named("a") });
  });

  test("replaces a list without a merge key", () => {
    const order = { tolerations: ["b", "c"], "$setElementOrder/tolerations": ["b", "c"] };
    expect(merged({ tolerations: ["a"] }, order)).toEqual({ tolerations: ["b", "c"] });
  });
});

describe("items of a list", () => {
  test.each<[string, Items, unknown, unknown]>([
    ["merge by their key", [{ name: "a", x: 1 }], [{ name: "a", y: 2 }], [{ name: "a", x: 1, y: 2 }]],
    [
      "merge with the first of that key",
      [{ name: "a" }, { name: "a" }],
      [{ name: "a", y: 2 }],
      [{ name: "a", y: 2 }, { name: "a" }],
    ],
    [
      "merge with one that the patch has brought",
      [{ name: "z" }],
      [
        { name: "a", x: 1 },
        { name: "a", y: 2 },
      ],
      [{ name: "a", x: 1, y: 2 }, { name: "z" }],
    ],
    [
      "have the key in the patch",
      named("a"),
      [{ x: 1 }],
      "PATCH_DIRECTIVE: map: map[x:1] does not contain declared merge key: name",
    ],
    [
      "have the key in the object",
      [{ x: 1 }],
      named("a"),
      "PATCH_DIRECTIVE: map: map[x:1] does not contain declared merge key: name",
    ],
    ["are deleted", named("abab"), [{ name: "a", $patch: "delete" }], named("bb")],
    [
      "are deleted by their key",
      named("a"),
      [{ $patch: "delete" }],
      "PATCH_DIRECTIVE: map: map[$patch:delete] does not contain declared merge key: name",
    ],
    ["are replaced as a whole", named("ab"), [{ $patch: "replace" }, { name: "c" }], named("c")],
    ["are replaced by nothing", named("ab"), [{ $patch: "replace" }], []],
    [
      "are not merged on request",
      named("a"),
      [{ name: "a", $patch: "merge" }],
      "PATCH_DIRECTIVE: merging lists cannot yet be specified in the patch",
    ],
    [
      "have no other directive",
      named("a"),
      [{ name: "a", $patch: "x" }],
      "PATCH_DIRECTIVE: unknown patch type: x in map: map[$patch:x name:a]",
    ],
    [
      "are all of one type",
      named("a"),
      ["a"],
      "PATCH_DIRECTIVE: list element types are not identical: [[map[name:a]] [a]]",
    ],
    ["are no lists", [[1]], named("a"), "PATCH_FAILED: lists of lists are not supported"],
    ["may be none", [], [], []],
    ["may be all new", [], named("a"), named("a")],
    ["remain where the patch has none", named("a"), [], named("a")],
  ])("%s", (_what, live, patch, expected) => {
    const result = merged({ containers: live }, { containers: patch });
    expect(typeof result === "string" ? result : (result as { containers: unknown }).containers).toEqual(expected);
  });

  const finalizers = (live: Items, patch: object): unknown => {
    const { merged: pod } = mergeStrategically({ ...POD, metadata: { finalizers: live } }, { metadata: patch }, TYPES);
    return (pod as { metadata: { finalizers: unknown } }).metadata.finalizers;
  };
  test.each<[string, Items, object, Items]>([
    ["are each there once", ["a", "b"], { finalizers: ["b", "c"] }, ["a", "b", "c"]],
    ["are each there once in the live list too", ["a", "b", "a"], { finalizers: [] }, ["a", "b"]],
    ["that came twice give their place to the last one", ["a", "a", "b", "c"], { finalizers: [] }, ["a", "b", "c"]],
    ["are removed", ["a", "b", "a"], { "$deleteFromPrimitiveList/finalizers": ["a", "x"] }, ["b"]],
    [
      "have the order that is requested",
      ["a", "b", "c"],
      { "$setElementOrder/finalizers": ["c", "a"] },
      ["b", "c", "a"],
    ],
    [
      "have the order that is requested, with what is new",
      ["a", "b"],
      { "$setElementOrder/finalizers": ["b", "c", "a"], finalizers: ["c"] },
      ["b", "c", "a"],
    ],
  ])("that are values %s", (_what, live, patch, expected) => {
    expect(finalizers(live, patch)).toEqual(expected);
  });
});

describe("members of an object", () => {
  const at = "PATCH_DIRECTIVE: ";
  test.each<[string, unknown, unknown, unknown]>([
    ["are replaced by another type", { nodeSelector: { a: "1" } }, { nodeSelector: "x" }, { nodeSelector: "x" }],
    ["are removed by null", { nodeSelector: { a: "1" } }, { nodeSelector: null }, {}],
    ["are new without nulls", {}, { affinity: { a: null, b: [{ c: null, d: 1 }] } }, { affinity: { b: [{ d: 1 }] } }],
    [
      "are new without directives",
      {},
      { affinity: { a: { $patch: "delete" }, b: [{ $patch: "replace" }, { c: 1 }] } },
      { affinity: { b: [{ c: 1 }] } },
    ],
    ["are emptied", { nodeSelector: { a: "1" } }, { nodeSelector: { $patch: "delete" } }, { nodeSelector: {} }],
    [
      "are replaced",
      { nodeSelector: { a: "1" } },
      { nodeSelector: { $patch: "replace", b: "2" } },
      { nodeSelector: { b: "2" } },
    ],
    [
      "have known directives",
      { nodeSelector: { a: "1" } },
      { nodeSelector: { $patch: "x" } },
      `${at}unknown patch type: x in map: map[$patch:x]`,
    ],
    ["have no values removed that are not there", {}, { "$deleteFromPrimitiveList/x": ["a"] }, {}],
    [
      "have no items removed that no key finds",
      { tolerations: [{ key: "a" }] },
      { "$deleteFromPrimitiveList/tolerations": [{ key: "a" }] },
      `${at}cannot merge lists without merge key for struct`,
    ],
    [
      "name the list that values are removed from",
      { a: 1 },
      { $deleteFromPrimitiveList: ["a"] },
      "PATCH_MALFORMED: invalid patch format of primitive list",
    ],
    [
      "are kept where the patch names them",
      { securityContext: { runAsUser: 1, runAsGroup: 2 } },
      { securityContext: { $retainKeys: ["runAsGroup"], runAsGroup: 3 } },
      { securityContext: { runAsGroup: 3 } },
    ],
    [
      "may be named that are removed",
      { securityContext: { runAsUser: 1, runAsGroup: 2 } },
      { securityContext: { $retainKeys: ["runAsGroup"], runAsUser: null } },
      { securityContext: { runAsGroup: 2 } },
    ],
    [
      "are all named to be kept",
      { securityContext: { runAsUser: 1 } },
      { securityContext: { $retainKeys: ["runAsGroup"], runAsUser: 2 } },
      "PATCH_MALFORMED: invalid patch format of retainKeys",
    ],
    [
      "are named in a list",
      { securityContext: { runAsUser: 1 } },
      { securityContext: { $retainKeys: "runAsUser" } },
      "PATCH_MALFORMED: invalid patch format of retainKeys",
    ],
    ["are known", { x: [1] }, { x: [2] }, `${at}unable to find api field in struct PodSpec for the json field "x"`],
    [
      "merge as what they are",
      { affinity: { nodeAffinity: { a: 1 } } },
      { affinity: { nodeAffinity: { b: 2 } } },
      { affinity: { nodeAffinity: { a: 1, b: 2 } } },
    ],
    ["take values of the same type", { hostNetwork: true }, { hostNetwork: false }, { hostNetwork: false }],
  ])("%s", (_what, live, patch, expected) => {
    expect(merged(live, patch)).toEqual(expected);
  });

  test("of a PodDisruptionBudget's selector are replaced with it", () => {
    const type = { apiVersion: "policy/v1", kind: "PodDisruptionBudget" };
    const live = { ...type, spec: { selector: { matchLabels: { a: "1" } } } };
    const spec = { selector: { matchLabels: { b: "2" } } };
    expect(mergeStrategically(live, { spec }, TYPES).merged).toEqual({ ...type, spec });
  });

  test("are followed, and leave the patch", () => {
    const patch = {
      spec: { $retainKeys: ["containers"], "$setElementOrder/containers": named("a"), containers: named("a") },
    };
    expect(mergeStrategically({ ...POD, spec: {} }, patch, TYPES).patch).toEqual({ spec: {} });
    expect(patch.spec.containers).toHaveLength(1);
    const refusal = "PATCH_MALFORMED: a strategic merge patch is an object";
    expect(outcome(() => mergeStrategically(POD, [], TYPES))).toBe(refusal);
    const value = { spec: { "$setElementOrder/nodeName": ["a"] } };
    expect(outcome(() => mergeStrategically({ ...POD, spec: {} }, value, TYPES))).toBe(
      "PATCH_DIRECTIVE: expected slice or array type, but got: struct",
    );
    expect(mergeStrategically(undefined, { a: 1 }, TYPES).merged).toEqual({ a: 1 });
  });
});
