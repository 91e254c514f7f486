import { matchesSelector, type SelectorLike } from "@causeway/kubernetes";

/** Whether a namespace's labels match the selector. No selector, or an empty one, matches every namespace. */
export function allowsNamespace(
  selector: SelectorLike | undefined,
  labels: Readonly<Record<string, string>> | undefined = {},
): boolean {
  return matchesSelector(selector ?? {}, labels);
}
