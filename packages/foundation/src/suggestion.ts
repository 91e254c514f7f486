import { editDistance } from "./edit-distance.ts";

/** `; is "X" meant?` for the known word that is nearest, if one is near; else nothing. */
export function suggestion(word: string, among: readonly string[]): string {
  const ranked = among.map((other) => ({ other, distance: editDistance(word, other) }));
  const best = ranked.toSorted((a, b) => a.distance - b.distance)[0];
  return best !== undefined && best.distance <= Math.max(2, word.length / 4) ? `; is "${best.other}" meant?` : "";
}
