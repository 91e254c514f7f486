import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DesiredPolicy } from "@causeway/octavia-tree";
import { httpPolicies, type HttpMatch } from "./http-rules.ts";

const listener = { port: 80, tls: false };
const to = (host: string, path: string, target: string, order: string): HttpMatch => ({
  host,
  match: { path: { type: "PathPrefix", value: path } },
  target: target.startsWith("pool") ? { pool: target } : { redirect: { hostname: target } },
  order: `${order} ns/${target} 0 0`,
});

/** What Octavia does with a request: redirects first, then pools, each in the order of positions. */
function octavia(policies: readonly DesiredPolicy[], host: string, path: string): string | undefined {
  const matching = policies.filter(({ rules }) =>
    rules.every(({ type, compare_type, value, invert = false }) => {
      const text = type === "HOST_NAME" ? host : path;
      const found = compare_type === "REGEX" ? new RegExp(value).test(text) : text.startsWith(value);
      return found !== invert;
    }),
  );
  const first = matching.find(({ action }) => action !== "REDIRECT_TO_POOL") ?? matching[0];
  return first?.pool ?? first?.prefix;
}

/** What the Gateway API wants: exact hosts before all hosts, then the longer path, then the older route. */
function wanted(matches: readonly HttpMatch[], host: string, path: string): string | undefined {
  const rank = (m: HttpMatch): number =>
    (m.host === "" ? 0 : 100) + (m.match.path?.value?.replace(/\/$/, "").length ?? 0);
  const best = matches
    .filter((m) => m.host === "" || m.host === host)
    .filter((m) => `${path}/`.startsWith(`${(m.match.path?.value ?? "/").replace(/\/$/, "")}/`))
    .toSorted((a, b) => rank(b) - rank(a) || (a.order < b.order ? -1 : 1))[0]?.target;
  return best && ("pool" in best ? best.pool : `http://${best.redirect.hostname}`);
}

describe("a redirect and pools on one listener", () => {
  test("leaves alone what a more specific match of another route serves", () => {
    const { policies } = httpPolicies(
      [to("shop.example", "/api", "pool-a", "2026-01-01"), to("", "/", "evil.example", "2026-11-01")],
      listener,
    );
    expect(octavia(policies, "shop.example", "/api/login")).toBe("pool-a");
    expect(octavia(policies, "shop.example", "/")).toBe("http://evil.example");
    expect(octavia(policies, "other.example", "/api/login")).toBe("http://evil.example");
  });

  test("takes one policy where the pools have its host", () => {
    const paths = ["/a", "/b", "/c"].map((path) => to("shop.example", path, `pool${path}`, "2026-01-01"));
    const { policies } = httpPolicies([...paths, to("shop.example", "/", "www.example", "2026-01-02")], listener);
    expect(policies.filter(({ action }) => action !== "REDIRECT_TO_POOL")).toHaveLength(1);
  });

  test("is left out by name where it would take too many policies", () => {
    const pools = Array.from({ length: 9 }, (_, i) => to(`h${i}.example`, `/${i}`, `pool-${i}`, "2026-01-01"));
    const { policies, warnings } = httpPolicies([...pools, to("", "/", "www.example", "2026-01-02")], listener);
    expect(policies).toHaveLength(9);
    expect(warnings.join()).toContain("the redirect of HTTPRoute ns/www.example is left out");
  });

  test("any matches: Octavia does what the Gateway API wants, but for redirects that are left out", () => {
    const match = fc.record({
      host: fc.constantFrom("", "a.example", "b.example"),
      path: fc.constantFrom("/", "/x", "/x/y", "/z"),
      target: fc.constantFrom("pool-1", "pool-2", "one.example", "two.example"),
    });
    fc.assert(
      fc.property(fc.array(match, { maxLength: 5 }), (made) => {
        const matches = made.map(({ host, path, target }, i) => to(host, path, target, `2026-01-0${i + 1}`));
        const { policies, warnings } = httpPolicies(matches, listener);
        if (warnings.length > 0) return;
        for (const host of ["a.example", "b.example", "c.example"])
          for (const path of ["/", "/x", "/x/y/z", "/xy", "/z"])
            expect(octavia(policies, host, path), `${host}${path}`).toBe(wanted(matches, host, path));
      }),
    );
  });
});
