import { isEmptySelector, matchesSelector, type SelectorLike } from "@causeway/kubernetes";

/** Whether labels match a selector. An empty selector matches nothing here: it would adopt every Machine. */
export function matches(selector: SelectorLike | undefined, labels: Readonly<Record<string, string>> = {}): boolean {
  return selector !== undefined && !isEmptySelector(selector) && matchesSelector(selector, labels);
}
