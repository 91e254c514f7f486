import type { Choices } from "./choices.ts";

type Container = Record<string, unknown> | unknown[];

/**
 * Makes one thing in a body wrong, or only odd: another type, null, an unknown field, something left out or given
 * twice.
 */
export function corrupted(choices: Choices, body: Record<string, unknown>): Record<string, unknown> {
  const copy = structuredClone(body);
  const { apiVersion: _version, kind: _kind, ...rest } = copy;
  const places = placesIn(rest);
  const [container, key] = places[choices.below(Math.max(places.length, 1))] ?? [copy, "extra"];
  switch (choices.below(7)) {
    case 0:
      if (Array.isArray(container)) container.push({ extra: true });
      else container["extra"] = choices.pick<unknown>(["text", { deep: 1 }, null]);
      break;
    case 1:
      put(container, key, null);
      break;
    case 2:
      put(container, key, choices.pick<unknown>([7, "text", true, ["a"], { a: "b" }, 1.5, -1, ""]));
      break;
    case 3:
      if (Array.isArray(container)) container.splice(Number(key), 1);
      else delete container[key];
      break;
    case 4:
      if (Array.isArray(container)) container.push(structuredClone(container[Number(key)]));
      else put(container, key, choices.pick<unknown>(["Not Valid!", "x".repeat(300), "", -5, 99_999_999_999]));
      break;
    case 5:
      put(container, key, choices.pick<unknown>([{}, [], "0", 0, false]));
      break;
    default:
      put(container, key, choices.pick<unknown>(["UPPER", "with space", "a/b/c", "ünïcode", "1"]));
  }
  return copy;
}

function put(container: Container, key: string, value: unknown): void {
  if (Array.isArray(container)) container[Number(key)] = value;
  else container[key] = value;
}

function placesIn(value: unknown): [Container, string][] {
  if (typeof value !== "object" || value === null) return [];
  const container = value as Container;
  return Object.entries(container).flatMap(([key, child]) => [
    [container, key] as [Container, string],
    ...placesIn(child),
  ]);
}

/**
 * A part of a body: what is left when some of its fields and items are left out. Nulls represent what a merge takes
 * away.
 */
export function fragment(choices: Choices, value: unknown, nulls: boolean): unknown {
  if (Array.isArray(value)) {
    const items = value as unknown[];
    return items.filter(() => !choices.chance(25)).map((item) => fragment(choices, item, false));
  }
  if (typeof value !== "object" || value === null) return value;
  const kept: [string, unknown][] = [];
  for (const [name, child] of Object.entries(value)) {
    if (choices.chance(30)) continue;
    if (nulls && choices.chance(10)) kept.push([name, null]);
    else kept.push([name, fragment(choices, child, nulls)]);
  }
  return Object.fromEntries(kept);
}
