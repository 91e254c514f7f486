import { describe, expect, test } from "vitest";
import { isMalformed, readTarget } from "./target.ts";
import { statusOf } from "../errors/status.ts";

function refusal(target: string): number {
  try {
    readTarget(target);
  } catch (error) {
    return statusOf(error).code;
  }
  return 0;
}

describe("the request target", () => {
  test.each([
    ["//", 404],
    ["///", 404],
    ["//a/b", 404],
    ["/api//v1", 404],
    ["http://[/", 400],
    ["*", 400],
    ["", 400],
    ["api", 400],
    ["/api/v1/%zz", 400],
    ["/api/v1/namespaces/default/configmaps/..", 400],
    ["/api/v1/namespaces/default/configmaps/%2e%2e", 400],
    ["/clusters/x/../..", 400],
    ["/./api", 400],
  ])("%s is refused with %i", (target, code) => {
    expect(refusal(target)).toBe(code);
  });

  test.each([
    ["/", "/"],
    ["/api?x=/../", "/api"],
    ["/a%2Fb", "/a/b"],
    ["/api\\v1", "/api\\v1"],
    ["/..api", "/..api"],
    ["http://host:6443/api", "/api"],
    ["https://[::1]:6443?a=b", "/"],
  ])("%s is the path %s", (target, path) => {
    expect(readTarget(target).path).toBe(path);
  });

  test("pairs of the query that are not encoded rightly are left out", () => {
    const { query } = readTarget("/api?a=1&labelSelector=%zz&b=%20");
    expect([...query]).toEqual([
      ["a", "1"],
      ["b", " "],
    ]);
  });

  test("are distinguished from other refusals", () => {
    expect(isMalformed({ code: 400, message: "400 Bad Request" })).toBe(true);
    expect(isMalformed({ code: 400, message: "invalid" })).toBe(false);
  });
});
