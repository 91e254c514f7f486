/** "; is "X" meant?" for the known word that is nearest, if one is near. */
export function suggestion(word: string, among: readonly string[]): string {
  const ranked = among.map((other) => ({ other, distance: distance(word, other) }));
  const best = ranked.toSorted((a, b) => a.distance - b.distance)[0];
  return best !== undefined && best.distance <= Math.max(2, word.length / 4) ? `; is "${best.other}" meant?` : "";
}

/** Edits from one word to another (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const change = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
