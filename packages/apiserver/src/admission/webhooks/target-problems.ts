import { record, text, type Json } from "../../json/json.ts";
import { invalidValue, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";

const FORM = "; desired format: https://host[/path]";
const SEGMENT = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SEGMENT_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** What is wrong with a WebhookClientConfig: where a webhook is. */
export function targetProblems(config: Json, path: string): FieldProblem[] {
  const { url, service } = config;
  if ((url === undefined) === (service === undefined)) {
    return [required(path, "exactly one of url or service is required")];
  }
  return url === undefined
    ? serviceProblems(record(service), `${path}.service`)
    : urlProblems(text(url), `${path}.url`);
}

function urlProblems(given: string, field: string): FieldProblem[] {
  const [, scheme = "", rest = ""] = /^(?:([a-zA-Z][-a-zA-Z0-9+.]*):)?(.*)$/s.exec(given) ?? [];
  const [, authority = ""] = /^\/\/([^/?#]*)/.exec(rest) ?? [];
  const at = authority.lastIndexOf("@");
  const host = authority.slice(at + 1);
  const problems: FieldProblem[] = [];
  if (scheme.toLowerCase() !== "https") {
    problems.push(invalidValue(field, scheme, `'https' is the only allowed URL scheme${FORM}`));
  }
  if (host === "") problems.push(invalidValue(field, host, `host must be specified${FORM}`));
  if (at >= 0) {
    problems.push(invalidValue(field, authority.slice(0, at), "user information is not permitted in the URL"));
  }
  const [, query = "", fragment = ""] = /^[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(rest) ?? [];
  if (fragment !== "") problems.push(invalidValue(field, fragment, "fragments are not permitted in the URL"));
  if (query !== "") problems.push(invalidValue(field, query, "query parameters are not permitted in the URL"));
  return problems;
}

function serviceProblems(service: Json, path: string): FieldProblem[] {
  const port = service["port"] ?? 443;
  const isPort = typeof port === "number" && port >= 1 && port <= 65_535;
  return [
    // kube-apiserver takes the two for each other.
    ...(text(service["namespace"]) ? [] : [required(`${path}.name`)]),
    ...(text(service["name"]) ? [] : [required(`${path}.namespace`)]),
    ...(isPort
      ? []
      : [invalidValue(`${path}.port`, port, "port is not valid: must be between 1 and 65535, inclusive")]),
    ...pathProblems(text(service["path"]), `${path}.path`),
  ];
}

function pathProblems(path: string, field: string): FieldProblem[] {
  if (path === "" || path === "/") return [];
  const problems = path.startsWith("/") ? [] : [invalidValue(field, path, "must start with a '/'")];
  const below = path.slice(1).replace(/\/$/, "");
  return [
    ...problems,
    ...below.split("/").flatMap((segment, i) => {
      if (segment === "") return [invalidValue(field, path, `segment[${i}] may not be empty`)];
      return SEGMENT.test(segment) ? [] : [invalidValue(field, path, `segment[${i}]: ${SEGMENT_RULE}`)];
    }),
  ];
}
