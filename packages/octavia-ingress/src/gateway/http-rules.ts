import type { DesiredPolicy } from "@causeway/octavia-tree";
import type { L7RuleCreate } from "@causeway/openstack";
import {
  addressProblem,
  comparison,
  expression,
  literal,
  ruleProblem as valueProblem,
  shown,
} from "../balancer/l7-values.ts";
import { rulesWithout, type Served } from "./redirects.ts";
import type { RedirectFilter, RouteMatch, RouteRule } from "../objects/gateway.ts";

/** One host and match of an HTTPRoute, with where it goes. */
export interface HttpMatch {
  /** "": every host. */
  readonly host: string;
  readonly match: RouteMatch;
  readonly target: { readonly pool: string } | { readonly redirect: RedirectFilter };
  /** "creation time namespace/name rule match": the smaller goes first where nothing else decides. */
  readonly order: string;
}

/** A listener as redirects see it: they name its scheme and port. */
export interface ListenerPort {
  readonly port: number;
  readonly tls: boolean;
}

const CODES = [301, 302, 303, 307, 308];

/**
 * What of a rule Octavia cannot do, by name; undefined: nothing. `hosts`: those that it would serve, "" for every host.
 */
export function ruleProblem(rule: RouteRule, hosts: readonly string[]): string | undefined {
  const problems = (rule.matches ?? []).map((match, i) => {
    const problem = matchProblem(match, hosts);
    return problem && `matches[${i}]: ${problem}`;
  });
  const first = problems.find((problem) => problem !== undefined);
  if (first !== undefined) return first;
  if (rule.timeouts !== undefined) return "timeouts: Octavia has them for a listener, not for a rule";
  if (rule.retry !== undefined) return "retry: Octavia does not retry";
  if (rule.sessionPersistence !== undefined) return "sessionPersistence: not supported";
  if ((rule.backendRefs ?? []).some(({ filters = [] }) => filters.length > 0))
    return "filters of backendRefs: Octavia cannot change requests";
  for (const { type, requestRedirect } of rule.filters ?? []) {
    if (type !== "RequestRedirect" || !requestRedirect) return `filter ${type}: Octavia does not support it`;
    const problem = redirectProblem(requestRedirect, hosts);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function matchProblem(match: RouteMatch, hosts: readonly string[]): string | undefined {
  if (match.method !== undefined) return "method: Octavia cannot match the method of a request";
  if ((match.queryParams ?? []).length > 0) return "queryParams: Octavia cannot match query parameters";
  // HAProxy compares what is between the commas of a header.
  const listed = (match.headers ?? []).find(({ type = "Exact", value }) => type === "Exact" && value.includes(","));
  if (listed)
    return `header ${shown(listed.name)} ${shown(listed.value)}: Octavia compares each part between commas, so no request would match`;
  const rules = [...hosts.flatMap((host) => hostRules(host, 65_535)), ...matchRules(match)];
  return rules.map(valueProblem).find((problem) => problem !== undefined);
}

function redirectProblem(redirect: RedirectFilter, hosts: readonly string[]): string | undefined {
  const { hostname, path, statusCode = 302 } = redirect;
  if (!CODES.includes(statusCode)) return `requestRedirect.statusCode ${statusCode}: Octavia has ${CODES.join(", ")}`;
  if (path?.type === "ReplacePrefixMatch")
    return "requestRedirect.path.replacePrefixMatch: Octavia cannot replace a prefix";
  if (hostname === undefined && hosts.some((host) => host === "" || host.startsWith("*.")))
    return "requestRedirect without hostname: Octavia cannot redirect to the host of the request where the route has no exact hostname";
  const [host = ""] = hosts.toSorted((a, b) => b.length - a.length);
  const { url, prefix } = redirection(redirect, host, { port: 65_535, tls: true });
  const problem = addressProblem(url ?? prefix ?? "");
  return problem && `requestRedirect ${problem}`;
}

/** The L7 policies of a listener, in the order in which Octavia evaluates them. */
export interface HttpPolicies {
  readonly policies: readonly DesiredPolicy[];
  /** What of the matches is not served, and why. */
  readonly warnings: readonly string[];
}

/** The L7 policies of a listener in the order that the Gateway API gives to matches. */
export function httpPolicies(matches: readonly HttpMatch[], listener: ListenerPort): HttpPolicies {
  const policies: DesiredPolicy[] = [];
  const warnings: string[] = [];
  const pools: Served[] = [];
  for (const { host, match, target, order } of matches.toSorted(byPrecedence)) {
    const served = { host, match, rules: [...hostRules(host, listener.port), ...matchRules(match)] };
    if ("pool" in target) {
      pools.push(served);
      policies.push({ action: "REDIRECT_TO_POOL", pool: target.pool, rules: served.rules });
      continue;
    }
    const redirect = redirection(target.redirect, host, listener);
    const sets = rulesWithout(served, pools);
    if (sets) policies.push(...sets.map((rules) => ({ ...redirect, rules: [...rules] })));
    else
      warnings.push(
        `the redirect of HTTPRoute ${order.split(" ")[1]} is left out: Octavia would apply it before more specific matches of other hosts, and to keep it from them would take too many policies`,
      );
  }
  return { policies, warnings };
}

/** Hosts from exact to none; Exact before the longest PathPrefix; more headers; the older route; the earlier rule. */
function byPrecedence(a: HttpMatch, b: HttpMatch): number {
  const [x, y] = [rank(a), rank(b)];
  const differing = x.findIndex((value, i) => value !== y[i]);
  return differing === -1 ? (a.order < b.order ? -1 : 1) : (y[differing] ?? 0) - (x[differing] ?? 0);
}

function rank({ host, match: { path, headers = [] } }: HttpMatch): number[] {
  const { type = "PathPrefix", value = "/" } = path ?? {};
  const kind = { Exact: 2, PathPrefix: 1 }[type] ?? 0;
  const length = type === "PathPrefix" ? value.replace(/\/+$/, "").length : value.length;
  return [host === "" ? 0 : host.startsWith("*.") ? 1 : 2, host.length, kind, length, headers.length];
}

/** A wildcard represents one label or more. */
function hostRules(host: string, port: number): L7RuleCreate[] {
  if (host === "") return [];
  const text = host.startsWith("*.") ? `.+\\.${literal(host.slice(2))}` : literal(host);
  return [{ type: "HOST_NAME", compare_type: "REGEX", value: `^${text}(:${port})?$` }];
}

function matchRules({ path, headers = [] }: RouteMatch): L7RuleCreate[] {
  const { type = "PathPrefix", value = "/" } = path ?? {};
  const seen = new Set<string>();
  // Names are compared without case; of two of one name the first counts.
  const first = headers.filter(({ name }) => !seen.has(name.toLowerCase()) && seen.add(name.toLowerCase()));
  return [
    pathRule(type, value),
    ...first.map(({ type: how = "Exact", name, value: text }): L7RuleCreate => ({
      type: "HEADER",
      key: name,
      ...(how === "Exact" ? comparison("EQUAL_TO", text) : { compare_type: "REGEX", value: expression(text) }),
    })),
  ];
}

function pathRule(type: string, value: string): L7RuleCreate {
  if (type === "Exact") return { type: "PATH", ...comparison("EQUAL_TO", value) };
  if (type === "RegularExpression") return { type: "PATH", compare_type: "REGEX", value: expression(value) };
  const elements = value.replace(/\/+$/, "");
  if (elements === "") return { type: "PATH", compare_type: "STARTS_WITH", value: "/" };
  return { type: "PATH", compare_type: "REGEX", value: `^${literal(elements)}(/.*)?$` };
}

/** Without a path the prefix keeps path and query of the request. */
function redirection(
  { scheme, hostname, port, path, statusCode = 302 }: RedirectFilter,
  host: string,
  listener: ListenerPort,
): Pick<DesiredPolicy, "action" | "url" | "prefix" | "code"> {
  const own = scheme ?? (listener.tls ? "https" : "http");
  const usual = own === "https" ? 443 : 80;
  const target = port ?? (scheme === undefined ? listener.port : usual);
  const base = `${own}://${hostname ?? host}${target === usual ? "" : `:${target}`}`;
  if (path?.replaceFullPath === undefined) return { action: "REDIRECT_PREFIX", prefix: base, code: statusCode };
  return { action: "REDIRECT_TO_URL", url: `${base}${path.replaceFullPath}`, code: statusCode };
}
