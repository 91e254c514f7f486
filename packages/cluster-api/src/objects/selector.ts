import type { MachineSetSpec } from "@causeway/api";

export type LabelSelector = NonNullable<MachineSetSpec["selector"]>;

/** metav1.LabelSelector over labels. An empty selector matches nothing here: it would adopt every machine. */
export function matches(selector: LabelSelector | undefined, labels: Readonly<Record<string, string>> = {}): boolean {
  if (isEmpty(selector)) return false;
  const exact = Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return exact && (selector?.matchExpressions ?? []).every((expression) => holds(expression, labels));
}

export function isEmpty(selector: LabelSelector | undefined): boolean {
  return Object.keys(selector?.matchLabels ?? {}).length === 0 && (selector?.matchExpressions ?? []).length === 0;
}

/** The selector as `kubectl` and the scale subresource write it. */
export function selectorText(selector: LabelSelector | undefined): string {
  const exact = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const rest = (selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator === "In" ? "in" : "notin"} (${[...values].sort().join(",")})`;
  });
  return [...exact, ...rest].sort().join(",");
}

function holds(
  { key, operator, values = [] }: { key: string; operator: string; values?: string[] },
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labels[key];
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}
