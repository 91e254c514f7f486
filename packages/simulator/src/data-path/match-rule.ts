import { createRequire } from "node:module";
import type * as re2js from "re2js";
import type { Rule } from "./model.ts";

/** What L7 rules read. */
export interface RequestFacts {
  /** As it was sent: path and query, or a whole URL. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Undefined: the connection has no client certificate. */
  readonly clientSubject?: Readonly<Record<string, string>> | undefined;
}

/** The path of a request as HAProxy has it: without the query, and without scheme and host. */
export function pathOf(target: string): string {
  const local = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i.exec(target);
  const rest = local ? target.slice(local[0].length) : target;
  return rest.split("?", 1)[0] ?? "";
}

/**
 * Whether a rule matches. One without a value to compare (a header that is not there) does not, so that its inversion
 * does.
 */
export function matchesRule(rule: Rule, request: RequestFacts): boolean {
  return found(rule, request) !== rule.invert;
}

function found(rule: Rule, request: RequestFacts): boolean {
  switch (rule.type) {
    case "HOST_NAME":
      return headerValues(request, "host").some((host) => compares(rule, host, { ignoreCase: true }));
    case "PATH":
      return compares(rule, pathOf(request.target));
    case "FILE_TYPE":
      return isFileType(rule, pathOf(request.target));
    case "HEADER":
      return headerValues(request, rule.key).some((value) => compares(rule, value));
    case "COOKIE":
      return cookieValues(request, rule.key).some((value) => compares(rule, value));
    case "SSL_CONN_HAS_CERT":
      return request.clientSubject !== undefined;
    // A certificate that cannot be verified does not get through the handshake.
    case "SSL_VERIFY_RESULT":
      return Number(rule.value) === 0;
    case "SSL_DN_FIELD": {
      const field = request.clientSubject?.[rule.key];
      return field !== undefined && compares(rule, field);
    }
    default:
      return false;
  }
}

/** The end of the path after its last dot; a regular expression is of the whole path. */
function isFileType(rule: Rule, path: string): boolean {
  if (rule.compare === "REGEX") return compares(rule, path);
  const dot = path.lastIndexOf(".");
  return dot > path.lastIndexOf("/") && compares(rule, path.slice(dot + 1));
}

function compares({ compare, value }: Rule, text: string, how: { readonly ignoreCase?: boolean } = {}): boolean {
  const ignoreCase = how.ignoreCase === true;
  if (compare === "REGEX") return patternOf(value, ignoreCase)?.test(text) === true;
  const [have, want] = ignoreCase ? [text.toLowerCase(), value.toLowerCase()] : [text, value];
  if (compare === "STARTS_WITH") return have.startsWith(want);
  if (compare === "ENDS_WITH") return have.endsWith(want);
  return compare === "CONTAINS" ? have.includes(want) : have === want;
}

/** The values of a header: a comma outside of quotes separates two. */
export function headerValues({ headers }: RequestFacts, name: string): string[] {
  const wanted = name.toLowerCase();
  return headers.flatMap(([each, value]) => (each.toLowerCase() === wanted ? separated(value) : []));
}

function separated(value: string): string[] {
  const parts: string[] = [];
  let [from, quoted] = [0, false];
  for (let i = 0; i < value.length; i += 1) {
    const letter = value[i];
    if (quoted && letter === "\\") i += 1;
    else if (letter === '"') quoted = !quoted;
    else if (letter === "," && !quoted) {
      parts.push(value.slice(from, i).trim());
      from = i + 1;
    }
  }
  return [...parts, value.slice(from).trim()];
}

/** All values of a cookie: a request can have it several times. */
export function cookieValues({ headers }: RequestFacts, name: string): string[] {
  const pairs = headers.filter(([each]) => each.toLowerCase() === "cookie").flatMap(([, value]) => value.split(";"));
  return pairs.flatMap((pair) => {
    const at = pair.indexOf("=");
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
}

type Engine = typeof re2js;
type Pattern = { test(text: string): boolean };

/** So many patterns are kept compiled. */
const KEPT = 2_000;

/** Compiles regular expressions to what matches in linear time. One that it cannot compile never matches. */
class Patterns {
  readonly #kept = new Map<string, Pattern | undefined>();
  #engine: Engine | undefined;

  of(value: string, ignoreCase: boolean): Pattern | undefined {
    const key = `${ignoreCase ? "i" : "-"}${value}`;
    if (this.#kept.has(key)) return this.#kept.get(key);
    if (this.#kept.size >= KEPT) this.#kept.clear();
    const made = this.#compile(value, ignoreCase);
    this.#kept.set(key, made);
    return made;
  }

  #compile(value: string, ignoreCase: boolean): Pattern | undefined {
    this.#engine ??= createRequire(import.meta.url)("re2js") as Engine;
    const { RE2JS } = this.#engine;
    try {
      const compiled = RE2JS.compile(value, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
      return { test: (text) => compiled.matcher(text).find() };
    } catch {
      return undefined;
    }
  }
}

const patterns = new Patterns();
const patternOf = (value: string, ignoreCase: boolean): Pattern | undefined => patterns.of(value, ignoreCase);
