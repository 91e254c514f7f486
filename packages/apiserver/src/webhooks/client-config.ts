import { subdomainFaults } from "../syntax/dns.ts";
import { at, isRecord, record, text, type Json } from "../json/json.ts";
import { invalidValue, required } from "../errors/problems.ts";
import type { FieldProblem } from "../errors/status.ts";

const FORM = "; desired format: https://host[/path]";

/**
 * What keeps a webhook's `clientConfig` from being one, as apiserver's webhook package words it. Its `url` has to be
 * https.
 */
export function clientConfigProblems(config: Json, field: string): FieldProblem[] {
  const { url, service } = config;
  if ((url === undefined) === (service === undefined)) {
    return [required(field, "exactly one of url or service is required")];
  }
  return url === undefined
    ? serviceProblems(record(service), `${field}.service`)
    : urlProblems(text(url), `${field}.url`);
}

function urlProblems(given: string, field: string): FieldProblem[] {
  const match = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(given);
  const [, scheme = "", authority = "", , query = "", fragment = ""] = match ?? [];
  const at = authority.lastIndexOf("@");
  const host = authority.slice(at + 1);
  const problems: FieldProblem[] = [];
  if (scheme.toLowerCase() !== "https") {
    problems.push(invalidValue(field, scheme.toLowerCase(), `'https' is the only allowed URL scheme${FORM}`));
  }
  if (host === "") problems.push(invalidValue(field, host, `host must be specified${FORM}`));
  if (at >= 0) {
    problems.push(invalidValue(field, authority.slice(0, at), "user information is not permitted in the URL"));
  }
  if (fragment !== "") problems.push(invalidValue(field, fragment, "fragments are not permitted in the URL"));
  if (query !== "") problems.push(invalidValue(field, query, "query parameters are not permitted in the URL"));
  return problems;
}

function serviceProblems(service: Json, field: string): FieldProblem[] {
  const problems = ["name", "namespace"].filter((n) => !text(service[n])).map((n) => required(`${field}.${n}`));
  const port = service["port"] ?? 443;
  if (typeof port !== "number" || port < 1 || port > 65_535) {
    const why = "port is not valid: must be between 1 and 65535, inclusive";
    problems.push(invalidValue(`${field}.port`, port, why));
  }
  return [...problems, ...pathProblems(text(service["path"]), `${field}.path`)];
}

function pathProblems(path: string, field: string): FieldProblem[] {
  if (path === "" || path === "/") return [];
  const wrong = (why: string): FieldProblem => invalidValue(field, path, why);
  if (path === "//") return [wrong("segment[0] may not be empty")];
  const problems = path.startsWith("/") ? [] : [wrong("must start with a '/'")];
  const steps = path.slice(1).replace(/\/$/, "").split("/");
  return [
    ...problems,
    ...steps.flatMap((step, i) => {
      if (step === "") return [wrong(`segment[${i}] may not be empty`)];
      return subdomainFaults(step).map((why) => wrong(`segment[${i}]: ${why}`));
    }),
  ];
}

/** Fills in what a `clientConfig` leaves out. */
export function defaultClientConfig(config: unknown): void {
  const service = at(config, "service");
  if (isRecord(service)) service["port"] ??= 443;
}
