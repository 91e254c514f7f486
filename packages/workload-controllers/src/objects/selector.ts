import { isEmptySelector, matchesSelector, type SelectorLike } from "@causeway/kubernetes";

type Labels = Readonly<Record<string, string>>;

/** Whether labels match a selector. An absent or empty selector selects nothing: it would adopt everything. */
export function selects(selector: SelectorLike | undefined, labels: Labels = {}): boolean {
  return selector !== undefined && !isEmptySelector(selector) && matchesSelector(selector, labels);
}

/** Whether `labels` has all of `wanted`, with the same values. */
export function hasLabels(labels: Labels | undefined, wanted: Labels): boolean {
  return matchesSelector({ matchLabels: wanted }, labels);
}
