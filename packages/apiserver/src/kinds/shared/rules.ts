import { fields, isRecord, type Json } from "../../json/json.ts";
import { invalidValue, notSupported, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import type { Strategy } from "../../contract/resource.ts";

/** What is wrong with one value: nothing, or a problem at its field. */
type Check = (value: unknown, field: string) => FieldProblem[];

/** A field by its path, where "[]" is each item of a list, and what holds for it. */
export type FieldRule = readonly [path: string, check: Check];

/** The rules of a kind as data, held on every write but to its subresources. */
export function ruled(rules: readonly FieldRule[]): Strategy {
  return {
    validate(object, _old, { subresource }) {
      return subresource
        ? []
        : rules.flatMap(([path, check]) => found(fields(object), path.split("."), { field: "", check }));
    },
  };
}

function found(
  value: unknown,
  [step, ...rest]: readonly string[],
  at: { field: string; check: Check },
): FieldProblem[] {
  if (step === undefined) return at.check(value, at.field);
  const isList = step.endsWith("[]");
  const name = isList ? step.slice(0, -2) : step;
  const field = at.field === "" ? name : `${at.field}.${name}`;
  const child = isRecord(value) ? value[name] : undefined;
  if (!isList) {
    // A required field of an absent object is not missing.
    return child === undefined && rest.length > 0 ? [] : found(child, rest, { ...at, field });
  }
  return (Array.isArray(child) ? (child as unknown[]) : []).flatMap((item, i) =>
    found(item, rest, { ...at, field: `${field}[${i}]` }),
  );
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== "";

/** A value that must be there and not be empty. */
export function needed(detail = ""): Check {
  return (value, field) => {
    const isEmpty = !isGiven(value) || (Array.isArray(value) && value.length === 0);
    return isEmpty ? [required(field, detail)] : [];
  };
}

/** One of these where something is given. */
export function oneOf(...values: readonly string[]): Check {
  return (value, field) =>
    isGiven(value) && !values.includes(String(value as string)) ? [notSupported(field, value, values)] : [];
}

/** A value that must be one of these, also when it is not given. */
export function someOf(...values: readonly string[]): Check {
  return (value, field) => (isGiven(value) ? oneOf(...values)(value, field) : [required(field)]);
}

/** A number that must be 0 or more. */
export const counted: Check = (value, field) =>
  typeof value === "number" && value < 0 ? [invalidValue(field, value, "must be greater than or equal to 0")] : [];

/** A number from 1 to 65535; names of ports pass. */
export const portNumber: Check = (value, field) =>
  typeof value === "number" && (value < 1 || value > 65_535)
    ? [invalidValue(field, value, "must be between 1 and 65535, inclusive")]
    : [];

const PERCENT_RULE =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A number of things, or a part of them. */
export const share: Check = (value, field) => {
  if (typeof value === "number") return counted(value, field);
  if (typeof value !== "string") return [];
  if (!/^\d+%$/.test(value)) return [invalidValue(field, value, PERCENT_RULE)];
  return Number.parseInt(value, 10) > 100 ? [invalidValue(field, value, "must not be greater than 100%")] : [];
};

/** The same, of which more than all may be requested. */
export function countOrShare(value: unknown, field: string): FieldProblem[] {
  if (typeof value === "string" && !/^\d+%$/.test(value)) return [invalidValue(field, value, PERCENT_RULE)];
  return counted(value, field);
}

/** A percentage of at most 100%; numbers pass. */
export function notOverAll(value: unknown, field: string): FieldProblem[] {
  const isOver = typeof value === "string" && /^\d+%$/.test(value) && Number.parseInt(value, 10) > 100;
  return isOver ? [invalidValue(field, value, "must not be greater than 100%")] : [];
}

/** Rules as data, and those that take more than a field. */
export function checked(
  rules: readonly FieldRule[],
  more: (object: Json, old: Json | undefined) => readonly FieldProblem[],
): Strategy {
  const plain = ruled(rules);
  return {
    validate(object, old, context) {
      if (context.subresource) return [];
      const found = plain.validate?.(object, old, context) ?? [];
      return [...found, ...more(fields(object), old && fields(old))];
    },
  };
}

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** A DNS label, "" being none. */
export const label: Check = (value, field) =>
  LABEL.test(String((value ?? "") as string)) ? [] : [invalidValue(field, value ?? "", LABEL_RULE)];

/** A DNS name, "" being none. */
export const subdomain: Check = (value, field) =>
  SUBDOMAIN.test(String((value ?? "") as string)) ? [] : [invalidValue(field, value ?? "", SUBDOMAIN_RULE)];

/** Holds the check where there is something to hold it to. */
export function whereGiven(check: Check): Check {
  return (value, field) => (isGiven(value) ? check(value, field) : []);
}

/** An object that must hold one of these fields. */
export function holding(names: readonly string[], problem: (field: string, value: Json) => FieldProblem): Check {
  return (value, field) => {
    const object = isRecord(value) ? value : {};
    return names.some((name) => isGiven(object[name])) ? [] : [problem(field, object)];
  };
}
