/** Longer words are compared by so many letters: the cost is the product of both lengths. */
const LONGEST = 256;

/** Insertions, deletions and replacements from one word to another (Levenshtein). */
export function editDistance(a: string, b: string): number {
  const [from, to] = [a.slice(0, LONGEST), b.slice(0, LONGEST)];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
