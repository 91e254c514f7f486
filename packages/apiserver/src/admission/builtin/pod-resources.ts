import { record, records, type Json } from "../../json/json.ts";
import { addQuantity, nanosOf } from "../../syntax/quantity.ts";

/** Quantities by the name of what they are of. */
export type Resources = Readonly<Record<string, string>>;

/**
 * What a pod asks for, or may have at most: all containers together, or the greediest of those that run before them.
 */
export function podResources(spec: Json, which: "requests" | "limits"): Resources {
  const of = (container: Json): Json => record(record(container["resources"])[which]);
  let total: Resources = {};
  let sidecars: Resources = {};
  let before: Resources = {};
  for (const container of records(spec["containers"])) total = sum(total, of(container));
  for (const container of records(spec["initContainers"])) {
    const own = of(container);
    if (container["restartPolicy"] === "Always") {
      total = sum(total, own);
      sidecars = sum(sidecars, own);
      before = most(before, sidecars);
    } else before = most(before, sum(sidecars, own));
  }
  return { ...most(total, before), ...podLevel(spec, which) };
}

/** What is said for the pod as a whole wins. */
function podLevel(spec: Json, which: string): Resources {
  const given = record(record(spec["resources"])[which]);
  const counted = Object.entries(given).filter(([name]) => /^(cpu|memory|hugepages-.*)$/.test(name));
  return Object.fromEntries(counted) as Resources;
}

function sum(a: Resources, b: Json): Resources {
  const names = Object.keys(b);
  return { ...a, ...Object.fromEntries(names.map((name) => [name, addQuantity(a[name], b[name])])) };
}

function most(a: Resources, b: Resources): Resources {
  const greater = Object.entries(b).filter(([name, q]) => (nanosOf(q) ?? 0n) > (nanosOf(a[name]) ?? 0n));
  return { ...a, ...Object.fromEntries(greater) };
}
