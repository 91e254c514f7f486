import type { ObjectMeta } from "@causeway/kubernetes";
import { isRecord } from "../json/json.ts";
import { SUBDOMAIN_RULE } from "./dns.ts";
import { invalidValue } from "../errors/problems.ts";
import type { FieldProblem } from "../errors/status.ts";

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
/** RFC 1123. The limit of 63 characters is checked elsewhere. */
export const DNS_LABEL = new RegExp(`^${LABEL}$`);
/** RFC 1123. The limit of 253 characters is checked elsewhere. */
export const DNS_SUBDOMAIN = new RegExp(`^${LABEL}(\\.${LABEL})*$`);
const NAME_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const ANNOTATIONS_LIMIT = 256 * 1024;

/** apimachinery's message for a name that is not a DNS label. */
export const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** What is wrong with a name that represents itself in a path. */
export function pathFaults(name: string): string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((c) => name.includes(c)).map((c) => `may not contain '${c}'`);
}

/** What is wrong with labels, in apimachinery's words. */
export function labelProblems(labels: unknown): FieldProblem[] {
  return keyed("metadata.labels", labels, true);
}

/** What is wrong with annotations, in apimachinery's words. */
export function annotationProblems(annotations: unknown): FieldProblem[] {
  return keyed("metadata.annotations", annotations, false);
}

function keyed(field: string, values: unknown, checkValues: boolean): FieldProblem[] {
  if (!isRecord(values)) return values === undefined ? [] : [invalidValue(field, values, "must be a map of strings")];
  return Object.entries(values).flatMap(([key, value]) => {
    const problems = qualifiedNameFaults(key).map((why) => invalidValue(field, key, why));
    if (typeof value !== "string") return [...problems, invalidValue(field, value, "must be a string")];
    if (!checkValues) return problems;
    return [...problems, ...labelValueFaults(value).map((why) => invalidValue(field, value, why))];
  });
}

/** What is wrong with a DNS name, one of a host for instance. */
export function subdomainFaults(name: string): string[] {
  return [
    ...(name.length > 253 ? ["must be no more than 253 characters"] : []),
    ...(DNS_SUBDOMAIN.test(name) ? [] : [SUBDOMAIN_RULE]),
  ];
}

/** What is wrong with the value of a label. */
export function labelValueFaults(value: string): string[] {
  const faults = value.length > 63 ? ["must be no more than 63 characters"] : [];
  return LABEL_VALUE.test(value) ? faults : [...faults, VALUE_RULE];
}

/** What is wrong with a "prefix/name" key, as labels and finalizers have them. */
export function qualifiedNameFaults(key: string): string[] {
  return labelKeyFaults(key.toLowerCase() === key ? key : lowered(key));
}

/** Prefixes of other keys than selectors' may be in capitals. */
function lowered(key: string): string {
  const at = key.lastIndexOf("/");
  return at < 0 ? key : `${key.slice(0, at).toLowerCase()}${key.slice(at)}`;
}

/** What is wrong with a label's key as a selector names it. */
export function labelKeyFaults(key: string): string[] {
  const parts = key.split("/");
  if (parts.length > 2) {
    return [
      `a qualified name ${QUALIFIED_RULE.slice("name part ".length)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? "";
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const faults: string[] = [];
  if (prefix === "") faults.push("prefix part must be non-empty");
  else if (prefix !== undefined && !DNS_SUBDOMAIN.test(prefix)) faults.push(`prefix part ${SUBDOMAIN_RULE}`);
  if (name === "") faults.push("name part must be non-empty");
  else if (name.length > 63) faults.push("name part must be no more than 63 characters");
  if (!NAME_PART.test(name)) faults.push(QUALIFIED_RULE);
  return faults;
}

/** The problem of annotations that are larger together than the API allows; none when they fit. */
export function annotationsSize(metadata: ObjectMeta): FieldProblem[] {
  let size = 0;
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) size += key.length + String(value).length;
  if (size <= ANNOTATIONS_LIMIT) return [];
  const message = `Too long: may not be more than ${ANNOTATIONS_LIMIT} bytes`;
  return [{ field: "metadata.annotations", message, reason: "FieldValueTooLong" }];
}
