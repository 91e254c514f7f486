import { forbiddenField, notSupported } from "../errors/problems.ts";
import { isTrue } from "../contract/request-info.ts";
import { badRequest, invalid, type FieldProblem } from "../errors/status.ts";

/** What a list or watch asks for in addition to selectors, read from the query. Source: metav1.ListOptions. */
export interface ListOptions {
  /** 0 is no limit. */
  readonly limit: number;
  readonly continue: string;
  /** "" when none is given. */
  readonly resourceVersion: string;
  readonly match: string;
  /** undefined when nothing is said. */
  readonly sendInitialEvents: boolean | undefined;
  readonly allowWatchBookmarks: boolean;
  /** 0 when nothing is said. */
  readonly timeoutSeconds: number;
}

const MATCH = "resourceVersionMatch";
const TYPE = { group: "meta.k8s.io", kind: "ListOptions" };

/** Reads and checks the options of a list. Throws 400, 422. */
export function listOptions(query: URLSearchParams): ListOptions {
  const options = optionsOf(query);
  refuse([
    ...matchProblems(options),
    ...(options.sendInitialEvents === undefined
      ? []
      : [forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list")]),
  ]);
  return options;
}

/** The same of a watch. One that names no revision begins with what is, as one that asks for initial events. */
export function watchOptions(query: URLSearchParams): ListOptions {
  const given = optionsOf(query);
  const isAny = given.resourceVersion === "" || given.resourceVersion === "0";
  const isSilent = given.sendInitialEvents === undefined && given.match === "";
  const options = isSilent && isAny ? { ...given, sendInitialEvents: true, match: "NotOlderThan" } : given;
  refuse(watchProblems(options));
  return options;
}

function optionsOf(query: URLSearchParams): ListOptions {
  const sendInitialEvents = query.get("sendInitialEvents");
  return {
    limit: Math.max(0, integer(query.get("limit"))),
    continue: query.get("continue") ?? "",
    resourceVersion: query.get("resourceVersion") ?? "",
    match: query.get(MATCH) ?? "",
    sendInitialEvents: sendInitialEvents === null ? undefined : isTrue(sendInitialEvents),
    allowWatchBookmarks: isTrue(query.get("allowWatchBookmarks")),
    timeoutSeconds: integer(query.get("timeoutSeconds")),
  };
}

function integer(given: string | null): number {
  if (given === null || given === "") return 0;
  if (!/^[+-]?\d+$/.test(given)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(given)}: invalid syntax`);
  const value = Number(given);
  if (Math.abs(value) < 2 ** 63) return value;
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(given)}: value out of range`);
}

function matchProblems({ match, resourceVersion, continue: token }: ListOptions): FieldProblem[] {
  if (match === "") return [];
  const problems: FieldProblem[] = [];
  if (resourceVersion === "")
    problems.push(forbiddenField(MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
  if (token !== "") problems.push(forbiddenField(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
  if (match !== "Exact" && match !== "NotOlderThan")
    problems.push(notSupported(MATCH, match, ["Exact", "NotOlderThan", ""]));
  if (match === "Exact" && resourceVersion === "0")
    problems.push(forbiddenField(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  return problems;
}

function watchProblems({ match, sendInitialEvents, continue: token }: ListOptions): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const isMatched = match === "NotOlderThan";
  if (sendInitialEvents !== undefined && !isMatched)
    problems.push(forbiddenField(MATCH, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  if (match === "") return problems;
  if (sendInitialEvents === undefined) {
    const why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
    problems.push(forbiddenField(MATCH, why));
  }
  if (!isMatched) problems.push(notSupported(MATCH, match, ["NotOlderThan"]));
  if (token !== "") problems.push(forbiddenField(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
  return problems;
}

function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw invalid(TYPE, "", problems);
}
