import { expect, test } from "vitest";
import type { L7RuleCreate } from "@causeway/openstack";
import { matchProblem, policiesOf, type Match } from "./rules.ts";

const match = (host: string, path: string, pathType: Match["pathType"] = "Prefix"): Match => ({
  host,
  path,
  pathType,
  pool: `${host}${path} ${pathType}`,
});

/** What an L7 rule says of a request. */
function holds({ type, compare_type, value }: L7RuleCreate, host: string, path: string): boolean {
  const text = type === "HOST_NAME" ? host : path;
  if (compare_type === "REGEX") return new RegExp(value).test(text);
  return compare_type === "EQUAL_TO" ? text === value : text.startsWith(value);
}

function serve(matches: readonly Match[], host: string, path: string): string | undefined {
  return policiesOf(matches, 80).find(({ rules }) => rules.every((rule) => holds(rule, host, path)))?.pool;
}

/** The examples of Kubernetes' documentation of path types. */
test.each([
  ["Prefix", "/", "/any/path", true],
  ["Exact", "/foo", "/foo", true],
  ["Exact", "/foo", "/bar", false],
  ["Exact", "/foo", "/foo/", false],
  ["Exact", "/foo/", "/foo", false],
  ["Prefix", "/foo", "/foo", true],
  ["Prefix", "/foo", "/foo/", true],
  ["Prefix", "/foo/", "/foo", true],
  ["Prefix", "/foo/", "/foo/", true],
  ["Prefix", "/aaa/bb", "/aaa/bbb", false],
  ["Prefix", "/aaa/bbb", "/aaa/bbb", true],
  ["Prefix", "/aaa/bbb/", "/aaa/bbb", true],
  ["Prefix", "/aaa/bbb", "/aaa/bbb/", true],
  ["Prefix", "/aaa/bbb", "/aaa/bbb/ccc", true],
  ["Prefix", "/aaa/bbb", "/aaa/bbbxyz", false],
  ["Prefix", "/a.c", "/abc", false],
  ["ImplementationSpecific", "/foo", "/foobar", true],
] as const)("a path of type %s with value %s matches the request %s: %s", (type, path, request, matches) => {
  expect(serve([match("", path, type)], "h", request) !== undefined).toBe(matches);
});

test.each([
  ["bar.foo.com", "bar.foo.com", true],
  ["bar.foo.com", "bar.foo.com:80", true],
  ["bar.foo.com", "xbar.foo.com", false],
  ["bar.foo.com", "barxfoo.com", false],
  ["*.foo.com", "bar.foo.com", true],
  ["*.foo.com", "baz.bar.foo.com", false],
  ["*.foo.com", "foo.com", false],
])("the host %s of a rule matches the request %s: %s", (host, request, matches) => {
  expect(serve([match(host, "/")], request, "/") !== undefined).toBe(matches);
});

test("the most specific path decides, whatever the order in which they are written", () => {
  const all = [
    match("", "/"),
    match("*.x.org", "/"),
    match("a.x.org", "/"),
    match("a.x.org", "/foo"),
    match("a.x.org", "/foo", "Exact"),
    match("a.x.org", "/foo/bar"),
  ];
  for (const matches of [all, all.toReversed()]) {
    expect(serve(matches, "a.x.org", "/foo")).toBe("a.x.org/foo Exact");
    expect(serve(matches, "a.x.org", "/foo/")).toBe("a.x.org/foo Prefix");
    expect(serve(matches, "a.x.org", "/foo/bar/baz")).toBe("a.x.org/foo/bar Prefix");
    expect(serve(matches, "a.x.org", "/other")).toBe("a.x.org/ Prefix");
    expect(serve(matches, "b.x.org", "/foo")).toBe("*.x.org/ Prefix");
    expect(serve(matches, "other", "/foo")).toBe("/ Prefix");
  }
});

test("the translation of an Ingress's rules refuses what Octavia cannot store", () => {
  expect(matchProblem(match("a", `/${"x".repeat(260)}`), 80)).toContain("Octavia stores 255");
  expect(matchProblem(match("a", "/a b"), 80)).toContain("percent-encoded");
  expect(matchProblem(match("a", "/a"), 80)).toBeUndefined();
});
