import { describe, expect, test } from "vitest";
import type { ProviderObject } from "../contract/provider-object.ts";
import { readGenerated, withGenerated, type GeneratedPatch } from "./generated.ts";

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64");
const item = (patchType: unknown, patch: unknown, uid: unknown = "a") => ({ uid, patchType, patch });
const deep = `${"[".repeat(200)}${"]".repeat(200)}`;

describe("the response to GeneratePatches", () => {
  test("gives patches in their order", () => {
    const items = [item("JSONPatch", base64([])), item("JSONMergePatch", base64({ spec: {} }), "b")];
    expect(readGenerated({ status: "Success", items }, ["a", "b"])).toEqual([
      { uid: "a", type: "JSONPatch", patch: [] },
      { uid: "b", type: "JSONMergePatch", patch: { spec: {} } },
    ]);
  });
  test("may have none", () => expect(readGenerated({ status: "Success" }, ["a"])).toEqual([]));
  test.each<[string, unknown, RegExp]>([
    ["items that are no list", {}, /no list/],
    ["a template that was not requested", [item("JSONPatch", base64([]), "z")], /template with ID "z"/],
    ["another type of patch", [item("StrategicMergePatch", base64({}))], /patchType of a .*"StrategicMergePatch"/],
    ["a patch that is no text", [item("JSONPatch", [])], /no text in base64/],
    ["a patch that is no JSON", [item("JSONPatch", "!!!!")], /no JSON in base64/],
    ["a patch that is nested too deep", [item("JSONPatch", Buffer.from(deep).toString("base64"))], /no JSON/],
    ["too many patches", Array.from({ length: 17 }, () => item("JSONPatch", base64([]))), /more than 16 patches/],
  ])("is refused with %s", (_, items, expected) =>
    expect(() => readGenerated({ status: "Success", items }, ["a"])).toThrow(expected),
  );
});

const template: ProviderObject = {
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
  kind: "OpenStackMachineTemplate",
  metadata: { name: "machine" },
  spec: { template: { spec: { flavor: "small", tags: ["a", "b"] } } },
};
const of = (type: GeneratedPatch["type"], patch: unknown): GeneratedPatch => ({ uid: "a", type, patch });
const place = "/spec/template/spec";

describe("a patch of an extension", () => {
  test.each<[string, GeneratedPatch, unknown]>([
    [
      "adds, replaces, removes, moves, copies and tests",
      of("JSONPatch", [
        { op: "test", path: `${place}/flavor`, value: "small" },
        { op: "replace", path: `${place}/flavor`, value: "large" },
        { op: "copy", from: `${place}/flavor`, path: `${place}/size` },
        { op: "move", from: `${place}/tags/0`, path: `${place}/first` },
        { op: "remove", path: `${place}/tags/0` },
        { op: "add", path: `${place}/tags/-`, value: "c" },
      ]),
      { flavor: "large", size: "large", first: "a", tags: ["c"] },
    ],
    [
      "merges, and removes what is null",
      of("JSONMergePatch", { spec: { template: { spec: { flavor: null, tags: ["c"], image: { id: "i" } } } } }),
      { tags: ["c"], image: { id: "i" } },
    ],
    [
      "changes nothing outside the spec",
      of("JSONMergePatch", { kind: "Other", metadata: { name: "other" }, status: {} }),
      { flavor: "small", tags: ["a", "b"] },
    ],
  ])("%s", (_, patch, spec) => {
    const before = structuredClone(template);
    expect(withGenerated(template, patch)).toEqual({ ...template, spec: { template: { spec } } });
    expect(template).toEqual(before);
  });
  test.each<[string, GeneratedPatch, RegExp]>([
    ["that tests another value", of("JSONPatch", [{ op: "test", path: `${place}/flavor`, value: "x" }]), /expected/],
    ["that leads nowhere", of("JSONPatch", [{ op: "remove", path: `${place}/none` }]), /no such value/],
    ["that is no list", of("JSONPatch", {}), /list of operations/],
    ["that removes the spec", of("JSONPatch", [{ op: "remove", path: "/spec" }]), /must be an object/],
    ["that makes the template a text", of("JSONMergePatch", { spec: { template: "x" } }), /must be an object/],
    ["that is an object no more", of("JSONMergePatch", "x"), /must be an object/],
    [
      "that doubles a text without end",
      of("JSONPatch", [
        { op: "add", path: `${place}/x`, value: "x".repeat(200_000) },
        ...[1, 2, 3, 4, 5, 6].map((n) => ({ op: "copy", from: `${place}/x`, path: `${place}/x${n}` })),
      ]),
      /more than 1048576 bytes/,
    ],
  ])("%s fails", (_, patch, expected) => expect(() => withGenerated(template, patch)).toThrow(expected));
  test("cannot reach a prototype", () => {
    const patch = JSON.parse('{"spec":{"__proto__":{"polluted":true}}}') as unknown;
    withGenerated(template, of("JSONMergePatch", patch));
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });
});
