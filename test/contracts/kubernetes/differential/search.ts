import * as fc from "fast-check";
import { described } from "./report.ts";
import type { Runner } from "./run.ts";
import { sequences, type Profile, type Sequence } from "./sequences.ts";

export interface Search {
  readonly profile: Profile;
  readonly seed: number;
  /** How many operations to try, at least. */
  readonly operations: number;
}

const LANES = 6;
const LENGTH = 30;
const CUSTOM_KINDS = 40;
const SEQUENCES_AT_ONCE = 10;
/** How often a sequence that differs is tried again, shorter. */
const REPLAYS = 150;
const ONCE =
  "sequences that differed once and not when they were repeated: a real server answers from caches that are late at times";

/**
 * Tries random sequences on both servers, several at a time; each difference is reported with the shortest sequence
 * that shows it.
 */
export async function search(runner: Runner, { profile, seed, operations }: Search): Promise<string[]> {
  const found: string[] = [];
  const end = runner.tally.operations + operations;
  let chunk = 0;
  const lane = async (): Promise<void> => {
    while (runner.tally.operations < end && found.length === 0) {
      const own = (seed * 1_000_003 + chunk) | 0;
      chunk += 1;
      const difference = await firstDifference(runner, { profile, seed: own });
      if (difference === undefined) continue;
      const { text, path } = difference;
      const again = `CAUSEWAY_FUZZ_SEED=${seed} CAUSEWAY_FUZZ_REPLAY=${profile}/${own}/${path} npm run test:kubernetes -- differential`;
      found.push(`${text}\nOnce more: ${again}`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return found;
}

/** Runs one sequence again, from the words that `search` printed: "PROFILE/SEED/PATH". */
export async function replay(runner: Runner, words: string): Promise<string[]> {
  const [profile = "", seed = "", path = ""] = words.split("/");
  const details = await fc.check(
    fc.asyncProperty(sequences(profile as Profile, LENGTH, CUSTOM_KINDS), async (sequence) => {
      const difference = await runner.run(sequence);
      if (difference !== undefined) throw new Error(described(difference));
    }),
    { seed: Number(seed), path, numRuns: 1, endOnFailure: true },
  );
  return details.failed ? [String(details.errorInstance)] : [];
}

interface Failure {
  readonly text: string;
  /** Where fast-check finds the sequence again. */
  readonly path: string;
}

async function firstDifference(
  runner: Runner,
  { profile, seed }: { readonly profile: Profile; readonly seed: number },
): Promise<Failure | undefined> {
  let left = Infinity;
  let shortest: string | undefined;
  const holds = async (sequence: Sequence): Promise<boolean> => {
    if (left <= 0) return true;
    left -= 1;
    const difference = await runner.run(sequence);
    if (difference === undefined) return true;
    left = Math.min(left, REPLAYS);
    shortest = described(difference);
    return false;
  };
  const property = fc.asyncProperty(sequences(profile, LENGTH, CUSTOM_KINDS), holds);
  const details = await fc.check(property, { seed, numRuns: SEQUENCES_AT_ONCE });
  if (!details.failed) return undefined;
  const [sequence] = details.counterexample ?? [];
  if (sequence !== undefined && shortest !== undefined && (await runner.run(sequence)) === undefined) {
    runner.tally.known.set(ONCE, (runner.tally.known.get(ONCE) ?? 0) + 1);
    return undefined;
  }
  return { text: shortest ?? String(details.errorInstance), path: details.counterexamplePath ?? "" };
}
