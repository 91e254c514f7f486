import type { KubeObject } from "../types/meta.ts";

/** Whether an object is selected. */
export type Predicate = (object: KubeObject) => boolean;

/** Whether an object is one that a label selector (the text form of the API) selects. */
export function labelPredicate(selector: string | undefined): Predicate {
  const tests = requirements(selector).map(labelTest);
  return (object) => tests.every((test) => test(object.metadata.labels ?? {}));
}

/** Whether an object is one that a field selector selects. A field that is absent counts as "". */
export function fieldPredicate(selector: string | undefined): Predicate {
  const tests = requirements(selector).map((text): Predicate => {
    const match = /^([^=!]+?)\s*(!=|==?)\s*(.*)$/.exec(text);
    if (!match) return () => false;
    const path = (match[1] ?? "").trim().split(".");
    const wanted = match[3] ?? "";
    const equal = match[2] !== "!=";
    return (object) => (fieldText(object, path) === wanted) === equal;
  });
  return (object) => tests.every((test) => test(object));
}

/** Splits at the commas that are not within parentheses. */
function requirements(selector: string | undefined): string[] {
  return (selector ?? "")
    .split(/,(?![^(]*\))/)
    .map((text) => text.trim())
    .filter((text) => text !== "");
}

type LabelTest = (labels: Readonly<Record<string, string>>) => boolean;

function labelTest(requirement: string): LabelTest {
  const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(requirement);
  if (set) {
    const key = set[1] ?? "";
    const values = new Set((set[3] ?? "").split(",").map((value) => value.trim()));
    const within: LabelTest = (labels) => labels[key] !== undefined && values.has(labels[key]);
    return set[2] === "in" ? within : (labels) => !within(labels);
  }
  const equality = /^([^=!\s]+)\s*(!=|==?)\s*(.*)$/.exec(requirement);
  if (equality) {
    const [, key = "", operator, value = ""] = equality;
    return (labels) => (labels[key] === value) === (operator !== "!=");
  }
  return requirement.startsWith("!")
    ? (labels) => labels[requirement.slice(1).trim()] === undefined
    : (labels) => labels[requirement] !== undefined;
}

function fieldText(object: KubeObject, path: readonly string[]): string {
  let value: unknown = object;
  for (const part of path) value = (value as Record<string, unknown> | null | undefined)?.[part];
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}
