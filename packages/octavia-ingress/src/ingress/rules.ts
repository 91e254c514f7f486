import { policyName, type DesiredPolicy } from "@causeway/octavia-tree";
import type { L7RuleCreate } from "@causeway/openstack";
import { comparison, literal, ruleProblem, shown } from "../balancer/l7-values.ts";
import type { IngressPath } from "../objects/ingress.ts";

/** One host and path of an Ingress, and where its requests go. */
export interface Match {
  /** "": every host. */
  readonly host: string;
  readonly path: string;
  readonly pathType: IngressPath["pathType"];
  readonly pool: string;
}

/**
 * The L7 policies of a listener, the most specific first: Octavia applies the first that matches. Equal matches: the
 * first counts.
 */
export function policiesOf(matches: readonly Match[], port: number): DesiredPolicy[] {
  return matches.toSorted(bySpecificity).map((match) => ({
    action: "REDIRECT_TO_POOL",
    pool: match.pool,
    rules: [...hostRules(match.host, port), pathRule(match)],
  }));
}

/** Equal for two matches that Octavia cannot distinguish. */
export function matchKey(match: Match, port: number): string {
  return policyName({ rules: [...hostRules(match.host, port), pathRule(match)] });
}

/** Why a match cannot be an L7 policy. */
export function matchProblem(match: Match, port: number): string | undefined {
  if (/[^!-~]/.test(match.path))
    return `path ${shown(match.path)} contains white space or characters beyond ASCII; write them percent-encoded, as clients send them`;
  return [...hostRules(match.host, port), pathRule(match)].map(ruleProblem).find((problem) => problem !== undefined);
}

/** Exact hosts before wildcards before every host; then the longer path; then Exact before Prefix. */
function bySpecificity(a: Match, b: Match): number {
  return (
    hostRank(b.host) - hostRank(a.host) ||
    b.host.length - a.host.length ||
    trimmed(b).length - trimmed(a).length ||
    pathRank(b.pathType) - pathRank(a.pathType)
  );
}

function hostRank(host: string): number {
  return host === "" ? 0 : host.startsWith("*.") ? 1 : 2;
}

function pathRank(type: Match["pathType"]): number {
  return { Exact: 2, Prefix: 1, ImplementationSpecific: 0 }[type];
}

/** The host of a request may have the listener's port. A wildcard represents one label. */
function hostRules(host: string, port: number): L7RuleCreate[] {
  if (host === "") return [];
  const text = host.startsWith("*.") ? `[^.]+\\.${literal(host.slice(2))}` : literal(host);
  return [{ type: "HOST_NAME", compare_type: "REGEX", value: `^${text}(:${port})?$` }];
}

/**
 * Kubernetes' meaning: a Prefix ends where a path element ends. ImplementationSpecific is a plain prefix, as upstream
 * has all paths.
 */
function pathRule(match: Match): L7RuleCreate {
  const path = match.path === "" ? "/" : match.path;
  if (match.pathType === "Exact") return { type: "PATH", ...comparison("EQUAL_TO", path) };
  const elements = trimmed(match);
  if (match.pathType === "ImplementationSpecific" || elements === "")
    return { type: "PATH", ...comparison("STARTS_WITH", path) };
  return { type: "PATH", compare_type: "REGEX", value: `^${literal(elements)}(/.*)?$` };
}

/** "/a/" and "/a" are the same prefix. */
function trimmed({ path, pathType }: Match): string {
  return pathType === "Prefix" ? path.replace(/\/+$/, "") : path;
}
