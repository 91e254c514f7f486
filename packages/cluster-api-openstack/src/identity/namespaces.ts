import type { OpenStackClusterIdentity } from "@causeway/api";

type Selector = NonNullable<OpenStackClusterIdentity["spec"]["namespaceSelector"]>;

/** True if the namespace's labels match the selector. No selector, or an empty one, matches every namespace. */
export function allowsNamespace(
  selector: Selector | undefined,
  labels: Readonly<Record<string, string>> | undefined = {},
): boolean {
  const exact = Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return exact && (selector?.matchExpressions ?? []).every((expression) => holds(expression, labels));
}

function holds(
  { key, operator, values = [] }: NonNullable<Selector["matchExpressions"]>[number],
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
