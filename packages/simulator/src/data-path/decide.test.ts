import { describe, expect, test } from "vitest";
import { decide, type Decision } from "./decide.ts";
import { headerValues, matchesRule, pathOf, type RequestFacts } from "./match-rule.ts";
import type { Backend, Frontend, Policy, Rule } from "./model.ts";

const request = (target: string, headers: Record<string, string> = {}): RequestFacts => ({
  target,
  headers: Object.entries({ Host: "shop.example", ...headers }),
});
const rule = (type: string, compare: string, value: string, more: Partial<Rule> = {}): Rule => {
  return { type, compare, value, key: "", invert: false, ...more };
};

describe("an L7 rule", () => {
  test.each<[string, Rule, RequestFacts, boolean]>([
    ["equal path", rule("PATH", "EQUAL_TO", "/a"), request("/a?b=c"), true],
    ["path in another case", rule("PATH", "EQUAL_TO", "/A"), request("/a"), false],
    ["path of a whole URL", rule("PATH", "STARTS_WITH", "/a"), request("http://h:80/a/b"), true],
    ["start", rule("PATH", "STARTS_WITH", "/a"), request("/ab"), true],
    ["end", rule("PATH", "ENDS_WITH", ".jpg"), request("/x.jpg"), true],
    ["middle", rule("PATH", "CONTAINS", "b/c"), request("/a/b/c/d"), true],
    ["expression, unanchored", rule("PATH", "REGEX", "v[0-9]+"), request("/api/v12/x"), true],
    ["expression, anchored", rule("PATH", "REGEX", "^/v[0-9]+$"), request("/api/v12"), false],
    ["expression that cannot be compiled", rule("PATH", "REGEX", "("), request("/("), false],
    ["host in another case", rule("HOST_NAME", "EQUAL_TO", "SHOP.example"), request("/"), true],
    ["host by expression in another case", rule("HOST_NAME", "REGEX", "^SHOP\\."), request("/"), true],
    ["host with its port", rule("HOST_NAME", "EQUAL_TO", "a"), request("/", { Host: "a:80" }), false],
    [
      "header name in another case",
      rule("HEADER", "EQUAL_TO", "1", { key: "x-a" }),
      request("/", { "X-A": "1" }),
      true,
    ],
    ["second value of a header", rule("HEADER", "EQUAL_TO", "2", { key: "x" }), request("/", { x: "1, 2" }), true],
    ["header that is not there", rule("HEADER", "EQUAL_TO", "", { key: "x" }), request("/"), false],
    [
      "inverted header that is not there",
      rule("HEADER", "EQUAL_TO", "1", { key: "x", invert: true }),
      request("/"),
      true,
    ],
    ["cookie", rule("COOKIE", "EQUAL_TO", "b=c", { key: "a" }), request("/", { cookie: "z=1; a=b=c" }), true],
    ["cookie of another name", rule("COOKIE", "EQUAL_TO", "b", { key: "a" }), request("/", { cookie: "aa=b" }), false],
    ["file type", rule("FILE_TYPE", "EQUAL_TO", "jpg"), request("/a.b/c.jpg?x"), true],
    ["file type of a folder", rule("FILE_TYPE", "EQUAL_TO", "b"), request("/a.b/c"), false],
    ["inverted file type", rule("FILE_TYPE", "EQUAL_TO", "jpg", { invert: true }), request("/c.png"), true],
    ["client certificate that is not there", rule("SSL_CONN_HAS_CERT", "EQUAL_TO", "true"), request("/"), false],
    [
      "field of a client certificate",
      rule("SSL_DN_FIELD", "STARTS_WITH", "al", { key: "CN" }),
      { ...request("/"), clientSubject: { CN: "alice" } },
      true,
    ],
  ])("matches by its kind: %s", (_, given, asked, wanted) => {
    expect(matchesRule(given, asked)).toBe(wanted);
  });

  test("takes time linear in the text for an expression that makes others backtrack", () => {
    const hostile = request(`/${"a".repeat(10_000)}!`);
    expect(matchesRule(rule("PATH", "REGEX", "^/(a+)+$"), hostile)).toBe(false);
  });

  test("sees a comma in quotes as a part of a header's value", () => {
    expect(headerValues({ target: "/", headers: [["X", 'a="b,c", d']] }, "x")).toEqual(['a="b,c"', "d"]);
  });

  test("has the path of a request without query, scheme and host", () => {
    expect(["/a?b", "http://h/a?b", "http://h", "*"].map(pathOf)).toEqual(["/a", "/a", "", "*"]);
  });
});

const backend = (id: string): Backend => {
  return {
    id,
    algorithm: "ROUND_ROBIN",
    persistence: undefined,
    proxyProtocol: undefined,
    tls: undefined,
    members: [],
    monitor: undefined,
  };
};
const always = rule("PATH", "STARTS_WITH", "/");
const policy = (action: Policy["action"], more: Partial<Policy> = {}): Policy => {
  return { action, rules: [always], target: "", code: 302, pool: undefined, ...more };
};
const toPool = (id: string, rules: readonly Rule[] = [always]): Policy =>
  policy("REDIRECT_TO_POOL", { pool: backend(id), rules });
const frontend = (policies: readonly Policy[], defaultPool?: Backend): Frontend => ({
  id: "l",
  balancer: "b",
  protocol: "HTTP",
  addresses: [],
  port: 80,
  connectionLimit: -1,
  allowedCidrs: undefined,
  clientTimeout: 1,
  connectTimeout: 1,
  memberTimeout: 1,
  insertHeaders: new Set(),
  policies,
  defaultPool,
  tls: undefined,
});
const said = (decision: Decision): string => {
  if (decision.type === "pool") return `pool ${decision.pool.id}`;
  return decision.type === "redirect" ? `${decision.code} ${decision.location}` : decision.type;
};

describe("a listener", () => {
  const url = policy("REDIRECT_TO_URL", { target: "https://a.example/", code: 301 });
  const prefix = policy("REDIRECT_PREFIX", { target: "https://b.example" });
  const reject = policy("REJECT");
  const other = rule("PATH", "STARTS_WITH", "/other");
  test.each<[string, readonly Policy[], string]>([
    ["no policy: the default pool", [], "pool default"],
    ["the first pool that matches", [toPool("one"), toPool("two")], "pool one"],
    ["all rules of a policy have to match", [toPool("one", [always, other]), toPool("two")], "pool two"],
    ["a rejection comes before all, whatever its position", [toPool("one"), url, reject], "deny"],
    ["a redirect comes before pools, whatever its position", [toPool("one"), url], "301 https://a.example/"],
    ["redirects are in the order of their positions", [prefix, url], "302 https://b.example/a?b=c"],
    ["a prefix is put before path and query", [prefix], "302 https://b.example/a?b=c"],
    ["the prefix / adds nothing", [policy("REDIRECT_PREFIX", { target: "/" })], "302 /a?b=c"],
    ["a policy that does not match does nothing", [policy("REJECT", { rules: [other] })], "pool default"],
  ])("decides as HAProxy does: %s", (_, policies, wanted) => {
    expect(said(decide(frontend(policies, backend("default")), request("/a?b=c")))).toBe(wanted);
  });

  test("without a policy that matches and a default pool is unavailable", () => {
    expect(decide(frontend([]), request("/"))).toEqual({ type: "unavailable" });
  });
});
