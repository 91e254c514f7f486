import { editDistance, shortList } from "@causeway/foundation";

/** "x; did you mean y?" for a name that does not exist: the nearest of the names that do, or all when they are few. */
export function suggest(name: string, known: readonly string[]): string {
  const names = [...new Set(known)].filter((n) => n !== "").sort();
  if (names.length === 0) return "none exists";
  const near = names
    .map((n) => ({ n, d: editDistance(name.toLowerCase(), n.toLowerCase()) }))
    .filter(({ n, d }) => d <= Math.max(2, Math.floor(name.length / 3)) || n.toLowerCase().includes(name.toLowerCase()))
    .sort((a, b) => a.d - b.d)
    .slice(0, 3)
    .map(({ n }) => n);
  if (near.length > 0) return `similar names: ${near.join(", ")}`;
  return `available: ${shortList(names, 8)}`;
}
