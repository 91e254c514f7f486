/** "x; did you mean y?" for a name that does not exist: the nearest of the names that do, or all when they are few. */
export function suggest(name: string, known: readonly string[]): string {
  const names = [...new Set(known)].filter((n) => n !== "").sort();
  if (names.length === 0) return "none exists";
  const near = names
    .map((n) => ({ n, d: distance(name.toLowerCase(), n.toLowerCase()) }))
    .filter(({ n, d }) => d <= Math.max(2, Math.floor(name.length / 3)) || n.toLowerCase().includes(name.toLowerCase()))
    .sort((a, b) => a.d - b.d)
    .slice(0, 3)
    .map(({ n }) => n);
  if (near.length > 0) return `similar names: ${near.join(", ")}`;
  const shown = names.slice(0, 8);
  return `available: ${shown.join(", ")}${names.length > shown.length ? ` and ${names.length - shown.length} more` : ""}`;
}

/** Levenshtein's edit distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
