import { describe, expect, test } from "vitest";
import type { FieldProblem } from "../../errors/status.ts";
import { type Json } from "../../json/json.ts";
import { targetProblems } from "./target-problems.ts";

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const REQUIRED = "Required value";

/** "field: message", without the path that all share. */
const shown = (problems: readonly FieldProblem[], path = "p"): string[] =>
  problems.map(({ field, message }) => `${field.replace(path, "")}: ${message}`);

describe("the address of a webhook", () => {
  const FORM = "; desired format: https://host[/path]";
  const service = (more: Json): Json => ({ service: { namespace: "ns", name: "s", ...more } });
  const odd = (path: string, segment: number, why: string): string =>
    `.service.path: Invalid value: "${path}": segment[${segment}]${why}`;
  const PORT = "port is not valid: must be between 1 and 65535, inclusive";
  test.each<[string, Json, readonly string[]]>([
    ["may be a URL", { url: "https://a.b:8/c" }, []],
    ["may be a URL in capitals", { url: "HTTPS://a" }, []],
    ["may be a Service", service({}), []],
    ["is needed", {}, [`: ${REQUIRED}: exactly one of url or service is required`]],
    [
      "is not two things",
      { url: "https://a", ...service({}) },
      [`: ${REQUIRED}: exactly one of url or service is required`],
    ],
    [
      "is a URL of TLS",
      { url: "http://a" },
      [`.url: Invalid value: "http": 'https' is the only allowed URL scheme${FORM}`],
    ],
    [
      "is a URL with a scheme",
      { url: "a" },
      [
        `.url: Invalid value: "": 'https' is the only allowed URL scheme${FORM}`,
        `.url: Invalid value: "": host must be specified${FORM}`,
      ],
    ],
    [
      "is a URL with a host after the user",
      { url: "https://u@/a" },
      [
        `.url: Invalid value: "": host must be specified${FORM}`,
        '.url: Invalid value: "u": user information is not permitted in the URL',
      ],
    ],
    ["is a URL with a host", { url: "https:///a" }, [`.url: Invalid value: "": host must be specified${FORM}`]],
    [
      "is a URL without a user",
      { url: "https://u:p@a" },
      ['.url: Invalid value: "u:p": user information is not permitted in the URL'],
    ],
    [
      "is a URL without an empty user",
      { url: "https://@a" },
      ['.url: Invalid value: "": user information is not permitted in the URL'],
    ],
    [
      "is a URL without a query",
      { url: "https://a/b?c=d" },
      ['.url: Invalid value: "c=d": query parameters are not permitted in the URL'],
    ],
    [
      "is a URL without a fragment",
      { url: "https://a/b?c#d" },
      [
        '.url: Invalid value: "d": fragments are not permitted in the URL',
        '.url: Invalid value: "c": query parameters are not permitted in the URL',
      ],
    ],
    ["needs a namespace", { service: { name: "s" } }, [`.service.name: ${REQUIRED}`]],
    ["needs a name", { service: { namespace: "ns" } }, [`.service.namespace: ${REQUIRED}`]],
    ["may have the first port", service({ port: 1 }), []],
    ["may have the last port", service({ port: 65_535 }), []],
    ["has no port below the first", service({ port: 0 }), [`.service.port: Invalid value: 0: ${PORT}`]],
    ["has no port above the last", service({ port: 65_536 }), [`.service.port: Invalid value: 65536: ${PORT}`]],
    ["may have the path /", service({ path: "/" }), []],
    ["may have a path", service({ path: "/a/b.c/d-e/" }), []],
    ["has no path of nothing", service({ path: "//" }), [odd("//", 0, " may not be empty")]],
    [
      "has a path from the root",
      service({ path: "a/b" }),
      [`.service.path: Invalid value: "a/b": must start with a '/'`, odd("a/b", 0, " may not be empty")],
    ],
    ["has no empty segment", service({ path: "/a//b" }), [odd("/a//b", 1, " may not be empty")]],
    ["has no odd segment", service({ path: "/a/B" }), [odd("/a/B", 1, `: ${SUBDOMAIN}`)]],
  ])("%s", (_what, config, expected) => {
    expect(shown(targetProblems(config, "p"))).toEqual(expected);
  });
});
