import { excuses } from "./excuses.ts";
import type { Told } from "./normal.ts";
import type { Line } from "./run.ts";

/** A command that the two clouds answer differently. */
export interface Difference {
  readonly command: string;
  readonly real: unknown;
  readonly simulated: unknown;
}

/** What the clouds say differently; `excused` are those that have a reason in excuses.ts. */
export function differencesOf(
  real: readonly Line[],
  simulated: readonly Line[],
): { readonly different: readonly Difference[]; readonly excused: readonly Difference[] } {
  const all = real.flatMap((line, place): Difference[] => {
    const ours = simulated[place]?.told;
    if (ours !== undefined && same(line.told, ours)) return [];
    return [{ command: line.command, real: line.told, simulated: ours }];
  });
  const isExcused = ({ command }: Difference) => excuses.some(({ commands }) => commands.includes(command));
  return { different: all.filter((one) => !isExcused(one)), excused: all.filter(isExcused) };
}

const same = (a: Told, b: Told): boolean => JSON.stringify(a) === JSON.stringify(b);
