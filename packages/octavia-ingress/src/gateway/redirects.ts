import type { L7RuleCreate } from "@causeway/openstack";
import type { RouteMatch } from "../objects/gateway.ts";

/** What a match serves, in the words of the Gateway API and of Octavia. */
export interface Served {
  readonly host: string;
  readonly match: RouteMatch;
  readonly rules: readonly L7RuleCreate[];
}

/** Octavia takes no policy with more rules. */
const MOST_RULES = 50;
const MOST_POLICIES = 8;

/**
 * The rules of the policies that redirect what `redirect` matches and none of `before` does. Octavia applies every
 * redirect before any pool, whatever their positions, so what goes first has to be left out by inverted rules.
 * Undefined: that would take too many policies.
 */
export function rulesWithout(
  redirect: Served,
  before: readonly Served[],
): readonly (readonly L7RuleCreate[])[] | undefined {
  const own = new Set(redirect.rules.map(textOf));
  let all: (readonly L7RuleCreate[])[] = [redirect.rules];
  for (const pool of before) {
    if (!overlap(redirect, pool)) continue;
    const differing = pool.rules.filter((rule) => !own.has(textOf(rule)));
    const inverted = differing.map((rule): L7RuleCreate => ({ ...rule, invert: true }));
    all = all.flatMap((rules) => {
      const texts = new Set(rules.map(textOf));
      // One that leaves it out already says enough.
      return inverted.some((rule) => texts.has(textOf(rule))) ? [rules] : inverted.map((rule) => [...rules, rule]);
    });
    if (all.length > MOST_POLICIES || all.some((rules) => rules.length > MOST_RULES)) return undefined;
  }
  return all;
}

function textOf({ type, compare_type, key, value, invert = false }: L7RuleCreate): string {
  return JSON.stringify([type, compare_type, key?.toLowerCase() ?? "", value, invert]);
}

/** Whether one request may match both; it may be said of two that none does. */
function overlap(a: Served, b: Served): boolean {
  return hostsOverlap(a.host, b.host) && pathsOverlap(a.match, b.match);
}

function hostsOverlap(a: string, b: string): boolean {
  if (a === "" || b === "" || a === b) return true;
  const covers = (wildcard: string, host: string) => wildcard.startsWith("*.") && host.endsWith(wildcard.slice(1));
  return covers(a, b) || covers(b, a);
}

function pathsOverlap(a: RouteMatch, b: RouteMatch): boolean {
  const [x, y] = [pathOf(a), pathOf(b)];
  if (x.type === "RegularExpression" || y.type === "RegularExpression") return true;
  if (x.type === "Exact" && y.type === "Exact") return x.value === y.value;
  const within = (prefix: string, path: string) => `${path}/`.startsWith(`${prefix.replace(/\/+$/, "")}/`);
  return (x.type !== "Exact" && within(x.value, y.value)) || (y.type !== "Exact" && within(y.value, x.value));
}

function pathOf({ path }: RouteMatch): { readonly type: string; readonly value: string } {
  return { type: path?.type ?? "PathPrefix", value: path?.value ?? "/" };
}
