import { isIP } from "node:net";
import { array, isRecord, record, records, text, type Json } from "../../json/json.ts";
import { labelFaults, subdomainFaults } from "../../syntax/dns.ts";
import { labelValueFaults, qualifiedNameFaults } from "../../syntax/names.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";

/*
 * What the rules of pods have in common. Source: Kubernetes API reference, PodSpec; the words are kube-apiserver's.
 */

/** What a check finds; none when a value is valid. */
export type Problems = readonly FieldProblem[];

/** A value that a list of unique items has twice. */
export function duplicate(field: string, value: unknown): FieldProblem {
  return { field, message: `Duplicate value: ${JSON.stringify(value)}`, reason: "FieldValueDuplicate" };
}

/** A name that nothing else in the object has, such as a mount of a volume that the pod lacks. */
export function notFoundValue(field: string, value: unknown, detail = ""): FieldProblem {
  const message = `Not found: ${JSON.stringify(value)}${detail ? `: ${detail}` : ""}`;
  return { field, message, reason: "FieldValueNotFound" };
}

const invalids = (field: string, value: unknown, faults: readonly string[]): FieldProblem[] =>
  faults.map((why) => invalidValue(field, value, why));

/** A value that must be a DNS label (RFC 1123). */
export const dnsLabel = (field: string, value: string): FieldProblem[] => invalids(field, value, labelFaults(value));
/** A value that must be a DNS subdomain (RFC 1123). */
export const dnsName = (field: string, value: string): FieldProblem[] => invalids(field, value, subdomainFaults(value));
/** A value that must be a label's key: "app" or "example.com/app". */
export const labelName = (field: string, value: string): FieldProblem[] =>
  invalids(field, value, qualifiedNameFaults(value));

/** A value that must be a label's value. */
export const labelValue = (field: string, value: string): FieldProblem[] =>
  invalids(field, value, labelValueFaults(value));

/** A name that must be given, and be a DNS label. */
export function labelNeeded(field: string, value: unknown): FieldProblem[] {
  return text(value) === "" ? [required(field)] : dnsLabel(field, text(value));
}

/** Whether a member is there and not null. */
export function given(object: Json, name: string): boolean {
  return object[name] !== undefined && object[name] !== null;
}

/** A text that must not be empty. */
export function neededText(field: string, value: unknown, detail = ""): FieldProblem[] {
  return text(value) === "" ? [required(field, detail)] : [];
}

/** One of these where something is given. */
export function supported(field: string, value: unknown, values: readonly string[]): FieldProblem[] {
  return value === undefined || value === null || values.includes(text(value))
    ? []
    : [notSupported(field, value, values)];
}

/** A number that must be in a range, both ends included; what is no number is not checked. */
export function between(field: string, value: unknown, [low, high]: readonly [number, number]): FieldProblem[] {
  const isOut = typeof value === "number" && (value < low || value > high);
  return isOut ? [invalidValue(field, value, `must be between ${low} and ${high}, inclusive`)] : [];
}

/** A number that must be 0 or more; what is no number is not checked. */
export function notNegative(field: string, value: unknown): FieldProblem[] {
  const isNegative = typeof value === "number" && value < 0;
  return isNegative ? [invalidValue(field, value, "must be greater than or equal to 0")] : [];
}

/** The lowest and the highest port. */
export const PORTS = [1, 65_535] as const;
const LARGEST_ID = 2_147_483_647;

/** A user's or group's ID of a container, such as runAsUser: 0 to 2^31 - 1. */
export function identity(field: string, value: unknown): FieldProblem[] {
  return between(field, value, [0, LARGEST_ID]);
}

/** What is wrong with a port's name. Source: RFC 6335, 5.1. */
export function portNameFaults(name: string): string[] {
  const faults: string[] = [];
  if (name.length > 15) faults.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(name)) {
    faults.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!/[a-z]/.test(name)) faults.push("must contain at least one letter (a-z)");
  if (name.includes("--")) faults.push("must not contain consecutive hyphens");
  if (/^-|-$/.test(name)) faults.push("must not begin or end with a hyphen");
  return faults;
}

/** A port by its number or its name. */
export function portProblems(field: string, port: unknown): FieldProblem[] {
  if (typeof port === "string") return invalids(field, port, portNameFaults(port));
  return between(field, port ?? 0, PORTS);
}

/** A path that must not lead upwards. */
export function noSteps(field: string, path: string): FieldProblem[] {
  return path.split("/").includes("..") ? [invalidValue(field, path, "must not contain '..'")] : [];
}

/** A path below some folder. */
export function descending(field: string, path: string): FieldProblem[] {
  const absolute = path.startsWith("/") ? [invalidValue(field, path, "must be a relative path")] : [];
  return [...absolute, ...noSteps(field, path)];
}

/** One that kubelets' own files, which begin with two dots, leave free. */
export function localPath(field: string, path: string): FieldProblem[] {
  const problems = descending(field, path);
  const isReserved = path.startsWith("..") && !path.startsWith("../") && path !== "..";
  return isReserved ? [...problems, invalidValue(field, path, "must not start with '..'")] : problems;
}

const ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/** A value that must be an IPv4 or IPv6 address. */
export function address(field: string, value: string): FieldProblem[] {
  return isIP(value) === 0 ? [invalidValue(field, value, ADDRESS)] : [];
}

/** Problems of each item, at its place. */
export function each(
  field: string,
  items: unknown,
  check: (item: Json, at: string, index: number) => Problems,
): FieldProblem[] {
  return records(items).flatMap((item, i) => check(item, `${field}[${i}]`, i));
}

const SELECTOR_OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"];

/** A LabelSelector. */
export function selectorProblems(field: string, selector: unknown): FieldProblem[] {
  if (!isRecord(selector)) return [];
  const labels = Object.entries(record(selector["matchLabels"])).flatMap(([key, value]) => [
    ...labelName(`${field}.matchLabels`, key),
    ...labelValue(`${field}.matchLabels`, text(value)),
  ]);
  const terms = each(`${field}.matchExpressions`, selector["matchExpressions"], (term, at) => {
    const operator = text(term["operator"]);
    const values = array(term["values"]);
    const isList = operator === "In" || operator === "NotIn";
    const problems: FieldProblem[] = [];
    if (!SELECTOR_OPERATORS.includes(operator)) {
      problems.push(invalidValue(`${at}.operator`, operator, "not a valid selector operator"));
    } else if (isList && values.length === 0) {
      problems.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (!isList && values.length > 0) {
      problems.push(
        forbiddenField(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
    }
    problems.push(...labelName(`${at}.key`, text(term["key"])));
    return [...problems, ...values.flatMap((value, i) => labelValue(`${at}.values[${i}]`, text(value)))];
  });
  return [...labels, ...terms];
}
