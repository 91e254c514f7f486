import { apiError, badRequest, noSuchPath } from "../errors/status.ts";

/** What a request line asks for: the path, decoded once and changed in no other way, and the query. */
export interface Target {
  readonly path: string;
  readonly query: URLSearchParams;
}

const MALFORMED = "400 Bad Request";
const ABSOLUTE = /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?(?=[/?]|$)/i;

/**
 * Reads a request target. Nothing is normalized: a proxy in front that filters paths sees the path that is served.
 * Throws 400 for what is not a path, and for dot segments, which kube-apiserver takes for names that no object can
 * have; 404 for empty segments.
 */
export function readTarget(target: string): Target {
  const relative = target.startsWith("/") ? target : withoutHost(target);
  const mark = relative.indexOf("?");
  const path = decoded(mark < 0 ? relative : relative.slice(0, mark));
  if (path.includes("//")) throw noSuchPath();
  const dots = /\/(\.\.?)(?=\/|$)/.exec(path)?.[1];
  if (dots !== undefined) throw badRequest(`Name parameter invalid: "${dots}": may not be '${dots}'`);
  return { path, query: readQuery(mark < 0 ? "" : relative.slice(mark + 1)) };
}

/** A name that no object can have. Throws 400. */
export function checkName(name: string): void {
  if (!name.includes("%")) return;
  throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: may not contain '%'`);
}

/** Whether an error is about the request line itself; the response to it is plain text, as of Go's server. */
export function isMalformed({ code, message }: { readonly code: number; readonly message?: string }): boolean {
  return code === 400 && message === MALFORMED;
}

/** A client of a proxy names the host too. */
function withoutHost(target: string): string {
  const host = ABSOLUTE.exec(target)?.[0];
  if (host === undefined) throw malformed();
  const rest = target.slice(host.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

function decoded(path: string): string {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw malformed();
  }
}

/** Pairs that are not encoded rightly are left out, as Go's servers do. */
function readQuery(query: string): URLSearchParams {
  if (!/%(?![\da-f]{2})/i.test(query)) return new URLSearchParams(query);
  const readable = query.split("&").filter((pair) => !/%(?![\da-f]{2})/i.test(pair));
  return new URLSearchParams(readable.join("&"));
}

function malformed(): Error {
  return apiError(400, "BadRequest", MALFORMED);
}
