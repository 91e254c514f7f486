import { isRecord, record, records, scalar, text, type Json } from "../../json/json.ts";
import { forbiddenField, invalidValue, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { nanosOf } from "../../syntax/quantity.ts";
import { duplicate, labelName } from "../shared/checks.ts";
import { nameProblems } from "./pods/resources.ts";

/*
 * LimitRanges. Source: Kubernetes, "Limit Ranges"; API reference, LimitRangeItem.
 */

const TYPES = ["Pod", "Container", "PersistentVolumeClaim"];
const LISTS = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];

/** What is wrong with the spec of a LimitRange. */
export function limitRangeProblems(spec: Json): FieldProblem[] {
  const seen = new Set<string>();
  return records(spec["limits"]).flatMap((limit, i) => {
    const field = `spec.limits[${i}]`;
    const type = text(limit["type"]);
    const problems = typeProblems(`${field}.type`, type);
    if (seen.has(type)) problems.push(duplicate(`${field}.type`, type));
    seen.add(type);
    problems.push(...namesProblems(limit, field));
    if (type === "Pod") {
      const why = "may not be specified when `type` is 'Pod'";
      const given = ["default", "defaultRequest"].filter((name) => Object.keys(record(limit[name])).length > 0);
      problems.push(...given.map((name) => forbiddenField(`${field}.${name}`, why)));
    }
    if (type === "PersistentVolumeClaim" && !hasStorage(limit)) {
      const why = "either minimum or maximum storage value is required, but neither was provided";
      problems.push(required(`${field}.limits`, why));
    }
    return [...problems, ...amountsProblems(limit, field)];
  });
}

function typeProblems(field: string, type: string): FieldProblem[] {
  if (TYPES.includes(type)) return [];
  const faults = labelName(field, type);
  if (faults.length > 0 || type.includes("/")) return faults;
  return [invalidValue(field, type, "must be a standard limit type or fully qualified")];
}

function hasStorage(limit: Json): boolean {
  return ["min", "max"].some((name) => record(limit[name])["storage"] !== undefined);
}

/** Of containers alone: others may limit what is their own. */
function namesProblems(limit: Json, field: string): FieldProblem[] {
  if (limit["type"] !== "Container") return [];
  return LISTS.flatMap((list) =>
    isRecord(limit[list])
      ? Object.keys(limit[list]).flatMap((name) => nameProblems(`${field}.${list}[${name}]`, name))
      : [],
  );
}

interface Amounts {
  readonly [list: string]: unknown;
}

function amountsProblems(limit: Json, field: string): FieldProblem[] {
  const lists = LISTS.map((list) => [list, record(limit[list])] as const);
  const names = [...new Set(lists.flatMap(([, amounts]) => Object.keys(amounts)))].toSorted();
  return names.flatMap((name) => {
    const amounts: Amounts = Object.fromEntries(lists.map(([list, of]) => [list, of[name]]));
    return orderProblems(amounts, (list) => `${field}.${list}[${name}]`, limit["type"] === "Pod");
  });
}

/** What must not be greater than what, and the error: at which, showing which, by which words. */
const ORDER = [
  ["min", "max", "min", "min", "min value", "max value"],
  ["min", "defaultRequest", "defaultRequest", "defaultRequest", "min value", "default request value"],
  ["defaultRequest", "max", "defaultRequest", "defaultRequest", "default request value", "max value"],
  ["defaultRequest", "default", "defaultRequest", "defaultRequest", "default request value", "default limit value"],
  ["min", "default", "default", "min", "min value", "default value"],
  ["default", "max", "default", "max", "default value", "max value"],
] as const;

function orderProblems(amounts: Amounts, at: (list: string) => string, isPod: boolean): FieldProblem[] {
  const nanos = (list: string): bigint | undefined =>
    amounts[list] === undefined ? undefined : nanosOf(amounts[list]);
  const problems: FieldProblem[] = [];
  for (const [low, high, place, shown, lowWords, highWords] of ORDER) {
    const [a, b] = [nanos(low), nanos(high)];
    const ofPod = isPod && (low.startsWith("default") || high.startsWith("default"));
    if (a === undefined || b === undefined || a <= b || ofPod) continue;
    const why = `${lowWords} ${scalar(amounts[low])} is greater than ${highWords} ${scalar(amounts[high])}`;
    problems.push(invalidValue(at(place), scalar(amounts[shown]), why));
  }
  return [...problems, ...ratioProblems(amounts, at("maxLimitRequestRatio"))];
}

const ONE = 1_000_000_000n;

function ratioProblems(amounts: Amounts, field: string): FieldProblem[] {
  const { maxLimitRequestRatio: ratio, max, min } = amounts;
  if (ratio === undefined) return [];
  const nanos = nanosOf(ratio) ?? 0n;
  const problems: FieldProblem[] = [];
  if (nanos < ONE) problems.push(invalidValue(field, scalar(ratio), `ratio ${scalar(ratio)} is less than 1`));
  if (max === undefined || min === undefined) return problems;
  const most = Number(nanosOf(max) ?? 0n) / Number(nanosOf(min) ?? 1n);
  if (Number(nanos) / Number(ONE) <= most) return problems;
  const why = `ratio ${scalar(ratio)} is greater than max/min = ${most.toFixed(6)}`;
  return [...problems, invalidValue(field, scalar(ratio), why)];
}
