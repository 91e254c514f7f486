/** metav1.LabelSelector as an object of the API has it, whatever kind that is. */
export interface SelectorLike {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?:
    | readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] | undefined }[]
    | undefined;
}

type Labels = Readonly<Record<string, string>>;

/**
 * Whether labels match a selector. An empty selector matches everything; an expression with an unknown operator matches
 * nothing.
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 */
export function matchesSelector(selector: SelectorLike, labels: Labels = {}): boolean {
  const exact = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return exact && (selector.matchExpressions ?? []).every((expression) => holds(expression, labels));
}

/** Whether a selector is absent or has no requirement. */
export function isEmptySelector(selector: SelectorLike | undefined): boolean {
  return Object.keys(selector?.matchLabels ?? {}).length === 0 && (selector?.matchExpressions ?? []).length === 0;
}

/** The selector as `kubectl` and query parameters write it, its requirements sorted. */
export function selectorText(selector: SelectorLike | undefined): string {
  const exact = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const rest = (selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator === "In" ? "in" : "notin"} (${values.toSorted().join(",")})`;
  });
  return [...exact, ...rest].toSorted().join(",");
}

function holds(
  { key, operator, values = [] }: NonNullable<SelectorLike["matchExpressions"]>[number],
  labels: Labels,
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
