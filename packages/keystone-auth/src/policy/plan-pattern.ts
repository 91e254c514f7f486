import type { Pattern } from "./policy.ts";

/**
 * Reads "*", "name", "!name", "['a', 'b']" or "!['a', 'b']". Undefined for what upstream passes over: a bracket without
 * its partner, or a list that is not one of texts.
 */
export function readPattern(text: string): Pattern | undefined {
  if (text === "*") return { type: "any" };
  const negated = text.startsWith("!");
  const rest = negated ? text.slice(1) : text;
  const names = rest.startsWith("[") ? readList(rest) : [rest];
  return names && { type: negated ? "all-but" : "these", names };
}

function readList(text: string): readonly string[] | undefined {
  if (text.indexOf("]") !== text.length - 1) return undefined;
  try {
    const list: unknown = JSON.parse(text.replaceAll("'", '"'));
    return Array.isArray(list) && list.every((name) => typeof name === "string") ? list : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a permission is for this name. "*" among the names of a list represents all names. */
export function matchesPattern(pattern: Pattern, name: string): boolean {
  // A request without the name, such as one for all namespaces, is judged by the caller.
  if (pattern.type === "any" || name === "") return true;
  const named = pattern.names.includes(name) || pattern.names.includes("*");
  return pattern.type === "these" ? named : !named;
}
