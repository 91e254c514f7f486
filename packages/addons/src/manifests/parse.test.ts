import { describe, expect, test } from "vitest";
import { applyOrder } from "./order.ts";
import { parseManifests } from "./parse.ts";

const object = (kind: string, name: string, more = "") =>
  `{apiVersion: v1, kind: ${kind}, metadata: {name: ${name}${more}}}`;

describe("the manifests of an add-on", () => {
  test.for<[string, string, string[]]>([
    [
      "may be several documents, some empty",
      `---\n${object("Secret", "a")}\n---\n\n---\n${object("Secret", "b")}`,
      ["a", "b"],
    ],
    [
      "may be a List",
      `{apiVersion: v1, kind: List, items: [${object("Secret", "a")}, ${object("Secret", "b")}]}`,
      ["a", "b"],
    ],
    ["are read without the tests of a chart", object("Pod", "t", ', annotations: {"helm.sh/hook": test}'), []],
    ["may be JSON", JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, status: {} }), ["a"]],
  ])("%s", ([, text, names]) => {
    expect(parseManifests([text]).map(({ metadata }) => metadata.name)).toEqual(names);
  });

  test("lose what only a server writes", () => {
    const text =
      "{apiVersion: v1, kind: Node, metadata: {name: a, uid: u, resourceVersion: '1', creationTimestamp: null}, status: {x: 1}}";
    expect(parseManifests([text])).toEqual([{ apiVersion: "v1", kind: "Node", metadata: { name: "a" } }]);
  });

  test.for<[string, string, string]>([
    ["YAML that cannot be read", "a: [", "the YAML cannot be read"],
    ["a text", "hello", "a document is not an object"],
    ["no kind", "apiVersion: v1", "lacks apiVersion or kind"],
    [
      "a generated name",
      "{apiVersion: v1, kind: Pod, metadata: {generateName: a-}}",
      "generated names are not supported",
    ],
    ["an owner", object("Pod", "a", ", ownerReferences: []"), "has ownerReferences"],
    ["a hook", object("Pod", "a", ', annotations: {"helm.sh/hook": pre-install}'), "is a Helm hook (pre-install)"],
    [
      "depth",
      `{apiVersion: v1, kind: Pod, metadata: {name: a}, x: ${"[".repeat(80)}${"]".repeat(80)}}`,
      "nested more than 64",
    ],
    [
      "aliases that multiply",
      `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [${"*a,".repeat(99)}*a]\nc: [${"*b,".repeat(99)}*b]\n`,
      "the YAML cannot be read",
    ],
    [
      "too many objects",
      Array.from({ length: 1_001 }, (_, i) => object("Pod", `p${i}`)).join("\n---\n"),
      "1001 objects",
    ],
  ])("are refused: %s", ([, text, why]) => {
    expect(() => parseManifests([text])).toThrow(expect.objectContaining({ code: "ADDON_MANIFEST_REFUSED" }));
    expect(() => parseManifests([text])).toThrow(why);
  });

  test("are applied in the order of what needs what", () => {
    const kinds = [
      "APIService",
      "Thing",
      "Deployment",
      "Service",
      "ConfigMap",
      "ClusterRole",
      "ServiceAccount",
      "CustomResourceDefinition",
      "Namespace",
    ];
    const objects = kinds.map((kind) => ({ apiVersion: "v1", kind, metadata: { name: "a" } }));
    expect(applyOrder(objects).map(({ kind }) => kind)).toEqual([
      "Namespace",
      "CustomResourceDefinition",
      "ServiceAccount",
      "ClusterRole",
      "ConfigMap",
      "Service",
      "Deployment",
      "Thing",
      "APIService",
    ]);
  });
});
