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

/** Tries random sequences on both servers, several at a time; what differs is told with the shortest sequence that shows it. */
export async function search(runner: Runner, { profile, seed, operations }: Search): Promise<string[]> {
  const found: string[] = [];
  const end = runner.tally.operations + operations;
  let chunk = 0;
  const lane = async (): Promise<void> => {
    while (runner.tally.operations < end && found.length === 0) {
      const own = seed * 1_000_003 + chunk;
      chunk += 1;
      const difference = await firstDifference(runner, profile, own);
      if (difference !== undefined)
        found.push(`${difference}\n(CAUSEWAY_FUZZ_SEED=${seed}, ${profile}, part ${chunk})`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return found;
}

async function firstDifference(runner: Runner, profile: Profile, seed: number): Promise<string | undefined> {
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
  const details = await fc.check(property, { seed: seed | 0, numRuns: SEQUENCES_AT_ONCE });
  if (!details.failed) return undefined;
  return shortest ?? String(details.errorInstance);
}
