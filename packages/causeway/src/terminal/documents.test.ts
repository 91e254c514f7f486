import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { documentOf, listOf } from "./documents.ts";

test("a result as JSON is one document, indented by two spaces, with a newline at its end", () => {
  expect(documentOf({ a: [{ b: 1 }] }, "json")).toBe('{\n  "a": [\n    {\n      "b": 1\n    }\n  ]\n}\n');
  expect(documentOf([], "json")).toBe("[]\n");
});

test("a result as YAML has no anchors, and says the same as JSON", () => {
  const shared = { b: 1 };
  const result = { one: shared, two: shared };
  expect(documentOf(result, "yaml")).toBe("one:\n  b: 1\ntwo:\n  b: 1\n");
  expect(parse(documentOf(result, "yaml") ?? "")).toEqual(JSON.parse(documentOf(result, "json") ?? ""));
});

test("a result for people is no document", () => {
  expect(["table", "wide", "name"].map((output) => documentOf({}, output))).toEqual([undefined, undefined, undefined]);
});

test("several Kubernetes objects are a List", () => {
  expect(listOf([1])).toEqual({ apiVersion: "v1", kind: "List", items: [1] });
});

/** Manifests that the command always prints as YAML, and kubeconfigs. */
const MANIFESTS = [
  "generate/action.ts",
  "generate/provider/action.ts",
  "run/hosted-control-plane/action.ts",
  "run/openstack-operator/action.ts",
];

test("no command writes JSON or YAML of its own, apart from those that always print manifests", () => {
  const folder = join(import.meta.dirname, "../commands");
  const sources = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  const own = sources.filter((file) => {
    const text = readFileSync(file, "utf8");
    return /import \{[^}]*\bstringify\b[^}]*\} from "yaml"/.test(text) || /JSON\.stringify\([^\n]*\}\\n/.test(text);
  });
  expect(own.map((file) => relative(folder, file)).sort()).toEqual(MANIFESTS);
});
