import { knownDifferences } from "./known-differences.ts";
import type { ClientOutput } from "./normal.ts";
import type { Line } from "./run.ts";

/** A command that the two clouds answer differently. */
export interface Difference {
  readonly command: string;
  /** "place: real value, simulated value", for each place in the answer where they part. */
  readonly at: readonly string[];
}

/** What the clouds say differently; `known` are those that have a reason in known-differences.ts. */
export function differencesOf(
  real: readonly Line[],
  simulated: readonly Line[],
): { readonly different: readonly Difference[]; readonly known: readonly Difference[] } {
  const all = real.flatMap((line, place): Difference[] => {
    const ours = simulated[place]?.output;
    if (ours !== undefined && same(line.output, ours)) return [];
    return [{ command: line.command, at: partings(line.output, ours) }];
  });
  const isKnown = ({ command }: Difference) => knownDifferences.some(({ commands }) => commands.includes(command));
  return { different: all.filter((one) => !isKnown(one)), known: all.filter(isKnown) };
}

const same = (a: ClientOutput, b: ClientOutput): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Where two values part, by path. */
function partings(real: unknown, ours: unknown, path = "answer"): string[] {
  if (JSON.stringify(real) === JSON.stringify(ours)) return [];
  if (!isMap(real) || !isMap(ours)) return [`${path}: ${JSON.stringify(real)}, ${JSON.stringify(ours)}`];
  const keys = [...new Set([...Object.keys(real), ...Object.keys(ours)])];
  return keys.flatMap((key) => partings(real[key], ours[key], `${path}.${key}`));
}

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
