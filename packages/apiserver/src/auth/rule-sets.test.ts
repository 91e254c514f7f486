import { describe, expect, test } from "vitest";
import type { Json } from "../json/json.ts";
import { resource } from "../testing/roles.ts";
import { missingRules } from "./rule-sets.ts";

describe("rules that another set of rules lacks", () => {
  const url = (...nonResourceURLs: string[]): Json => ({ verbs: ["get"], nonResourceURLs });
  test.each<[string, readonly Json[], readonly Json[], readonly Json[]]>([
    ["none of the same", [resource()], [resource()], []],
    ["all of none", [], [resource()], [resource()]],
    ["none of no rules", [], [], []],
    ["a verb", [resource()], [resource({ verbs: ["get", "list"] })], [resource({ verbs: ["list"] })]],
    [
      "verbs of one resource together",
      [],
      [resource(), resource({ verbs: ["list"] })],
      [resource({ verbs: ["get", "list"] })],
    ],
    [
      "resources apart",
      [],
      [resource({ resources: ["a", "b"] })],
      [resource({ resources: ["a"] }), resource({ resources: ["b"] })],
    ],
    [
      "groups apart",
      [],
      [resource({ apiGroups: ["a", "b"] })],
      [resource({ apiGroups: ["a"] }), resource({ apiGroups: ["b"] })],
    ],
    [
      "names apart",
      [],
      [resource({ resourceNames: ["a", "b"] })],
      [resource({ resourceNames: ["a"] }), resource({ resourceNames: ["b"] })],
    ],
    [
      "a name and no name apart",
      [],
      [resource(), resource({ resourceNames: ["a"] })],
      [resource(), resource({ resourceNames: ["a"] })],
    ],
    [
      "none of what several rules give",
      [resource(), resource({ verbs: ["list"] })],
      [resource({ verbs: ["get", "list"] })],
      [],
    ],
    ["none under all verbs", [resource({ verbs: ["*"] })], [resource({ verbs: ["get", "*"] })], []],
    ["all verbs under some", [resource()], [resource({ verbs: ["*"] })], [resource({ verbs: ["*"] })]],
    ["none under all groups", [resource({ apiGroups: ["*"] })], [resource({ apiGroups: ["a", "*"] })], []],
    ["another group", [resource({ apiGroups: ["a"] })], [resource()], [resource()]],
    [
      "none under all resources",
      [resource({ resources: ["*"] })],
      [resource({ resources: ["a", "a/b", "*/c", "*"] })],
      [],
    ],
    [
      "none under a subresource of no resource",
      [resource({ resources: ["*/b"] })],
      [resource({ resources: ["/b"] })],
      [],
    ],
    ["none under a subresource of all", [resource({ resources: ["*/b"] })], [resource({ resources: ["a/b"] })], []],
    [
      "another subresource",
      [resource({ resources: ["*/b"] })],
      [resource({ resources: ["a/c"] })],
      [resource({ resources: ["a/c"] })],
    ],
    [
      "a resource of a subresource",
      [resource({ resources: ["*/b", "*"].slice(0, 1) })],
      [resource({ resources: ["b"] })],
      [resource({ resources: ["b"] })],
    ],
    ["all names where one is held", [resource({ resourceNames: ["a"] })], [resource()], [resource()]],
    [
      "another name",
      [resource({ resourceNames: ["a"] })],
      [resource({ resourceNames: ["b"] })],
      [resource({ resourceNames: ["b"] })],
    ],
    ["none of a held name", [resource({ resourceNames: ["a", "b"] })], [resource({ resourceNames: ["b"] })], []],
    ["a path", [url("/a")], [url("/a", "/b")], [url("/b")]],
    ["none below a pattern", [url("/a/*")], [url("/a/b", "/a/*", "/a/b*")], []],
    ["a path outside a pattern", [url("/a/*")], [url("/a")], [url("/a")]],
    ["none below all", [url("*")], [url("/a", "*")], []],
    ["none below stars", [url("/a**")], [url("/ab")], []],
    ["a pattern of a path", [url("/a")], [url("/a*")], [url("/a*")]],
    [
      "verbs of a path, one by one",
      [],
      [{ verbs: ["get", "post"], nonResourceURLs: ["/a"] }],
      [url("/a"), { verbs: ["post"], nonResourceURLs: ["/a"] }],
    ],
    ["a path where names are held", [{ ...url("/a"), resourceNames: ["a"] }], [url("/a")], [url("/a")]],
    ["a path of another verb", [{ ...url("/a"), verbs: ["post"] }], [url("/a")], [url("/a")]],
    ["a path of a resource rule", [resource({ resources: ["*"] })], [url("/a")], [url("/a")]],
    ["a resource of a path rule", [url("*")], [resource()], [resource()]],
  ])("are %s", (_what, owned, wanted, missing) => {
    expect(missingRules(owned, wanted)).toEqual(missing);
  });
});
