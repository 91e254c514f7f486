/** The word that differs least from `word`; undefined if every one differs in more than a third of its letters. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  let best: string | undefined;
  let fewest = limit + 1;
  for (const candidate of words) {
    if (Math.abs(candidate.length - word.length) >= fewest) continue;
    const edits = distance(word, candidate);
    if (edits < fewest) [best, fewest] = [candidate, edits];
  }
  return best;
}

/** Insertions, deletions and replacements between two words (Levenshtein), of words of 128 letters at most. */
function distance(a: string, b: string): number {
  const [from, to] = [a.slice(0, 128), b.slice(0, 128)];
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
