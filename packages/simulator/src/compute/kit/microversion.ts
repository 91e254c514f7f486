import type { Context, MiddlewareHandler } from "hono";
import { ServiceError } from "../../kernel/service-error.ts";
import { computeError } from "../model.ts";

/** A service that speaks microversions: "2.1" to "2.93". */
export interface MicroversionRange {
  /** Service type in `OpenStack-API-Version: compute 2.79`. */
  readonly type: string;
  readonly major: number;
  readonly minimum: number;
  readonly maximum: number;
  /** Nova has an older header of its own. */
  readonly legacyHeader?: string;
}

/**
 * The minor version that a request asks for: the lowest if none. Throws 400 for a malformed one, 406 for one out of
 * range.
 */
export function minorOf(c: Context, range: MicroversionRange): number {
  const asked = askedVersion(c, range);
  if (asked === undefined) return range.minimum;
  if (asked === "latest") return range.maximum;
  const match = /^([1-9]\d*)\.(\d+)$/.exec(asked);
  if (!match) {
    const message = `API Version String ${asked} is of invalid format. Must be of format MajorNum.MinorNum.`;
    throw computeError(400, message);
  }
  const minor = Number(match[2]);
  if (Number(match[1]) === range.major && minor >= range.minimum && minor <= range.maximum) return minor;
  const text = (n: number) => `${range.major}.${n}`;
  const message = `Version ${asked} is not supported by the API. Minimum is ${text(range.minimum)} and maximum is ${text(range.maximum)}.`;
  throw new ServiceError(406, { computeFault: { code: 406, message } }, versionHeaders(asked, range));
}

const versionHeaders = (version: string, { type, legacyHeader }: MicroversionRange): Record<string, string> => ({
  "openstack-api-version": `${type} ${version}`,
  ...(legacyHeader === undefined ? {} : { [legacyHeader]: version }),
});

function askedVersion(c: Context, range: MicroversionRange): string | undefined {
  for (const part of (c.req.header("openstack-api-version") ?? "").split(",")) {
    const [type, version] = part.trim().split(/\s+/);
    if (type?.toLowerCase() === range.type && version !== undefined) return version;
  }
  return range.legacyHeader === undefined ? undefined : c.req.header(range.legacyHeader);
}

/** Puts the minor version of a request in `minor` and returns it, with the request id, in the response headers. */
export function microversions(range: MicroversionRange): MiddlewareHandler {
  return async (c, next) => {
    const minor = minorOf(c, range);
    c.set("minor", minor);
    await next();
    // The page for a path that no version knows is sent before any version is checked.
    if (c.error instanceof ServiceError && c.error.headers["content-type"]?.startsWith("text/html")) return;
    const headers = versionHeaders(`${range.major}.${minor}`, range);
    for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value);
    c.res.headers.append("vary", "OpenStack-API-Version");
    if (range.legacyHeader !== undefined) c.res.headers.append("vary", range.legacyHeader);
    c.res.headers.set("x-compute-request-id", String(c.get("requestId") ?? ""));
  };
}
