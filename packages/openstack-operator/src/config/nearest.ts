import { editDistance } from "@causeway/foundation";

/** The word that differs least from `word`; undefined if every one differs in more than a third of its letters. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  let best: string | undefined;
  let fewest = limit + 1;
  for (const candidate of words) {
    if (Math.abs(candidate.length - word.length) >= fewest) continue;
    const edits = editDistance(word, candidate);
    if (edits < fewest) [best, fewest] = [candidate, edits];
  }
  return best;
}
