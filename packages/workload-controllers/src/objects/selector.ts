import type { LabelSelector, LabelSelectorRequirement } from "@causeway/kubernetes";

type Labels = Readonly<Record<string, string>>;

/** metav1.LabelSelector over labels. An absent or empty selector selects nothing: it would adopt everything. */
export function selects(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  const exact = Object.entries(selector?.matchLabels ?? {});
  const expressions = selector?.matchExpressions ?? [];
  if (exact.length + expressions.length === 0) return false;
  return hasLabels(labels, Object.fromEntries(exact)) && expressions.every((each) => holds(each, labels));
}

/** True if `labels` has all of `wanted`, with the same values. */
export function hasLabels(labels: Labels | undefined, wanted: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => labels?.[key] === value);
}

/** The selector as a query parameter. */
export function selectorText(selector: LabelSelector): string {
  const exact = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const rest = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator === "In" ? "in" : "notin"} (${values.toSorted().join(",")})`;
  });
  return [...exact, ...rest].join(",");
}

function holds({ key, operator, values = [] }: LabelSelectorRequirement, labels: Labels): boolean {
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
  }
}
