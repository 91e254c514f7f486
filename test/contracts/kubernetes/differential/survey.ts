/**
 * Runs sequences on both servers and prints all differences, the commonest first, instead of stopping at the first:
 * `CAUSEWAY_KUBERNETES_BINARIES=DIR node survey.ts [PROFILE] [SEQUENCES] [SEED]`.
 */
import * as fc from "fast-check";
import { described, differences } from "./report.ts";
import { Runner, type Difference } from "./run.ts";
import { sequences, type Profile } from "./sequences.ts";
import { startPair } from "./servers.ts";

const [profile = "general", count = "100", seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);
const LANES = 6;

const drawn = fc.sample(sequences(profile as Profile, 24, 40), { numRuns: Number(count), seed: Number(seed) });
// One signal prints what was found until then; the second ends the process at once, and the servers with it.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    if (drawn.length === 0) process.exit(1);
    drawn.length = 0;
    process.once(signal, () => process.exit(1));
  });
}
const pair = await startPair();
const runner = new Runner(pair, Number(seed));
const found = new Map<string, { difference: Difference; times: number }>();
const began = Date.now();
const lane = async (): Promise<void> => {
  for (let next = drawn.pop(); next; next = drawn.pop()) {
    try {
      const difference = await runner.run(next);
      if (difference) note(difference);
    } catch (error) {
      note({ step: String(error), theirs: 0, ours: 1, before: [] });
    }
  }
};
function note(difference: Difference): void {
  const { operation } = difference;
  const places = differences(difference.theirs, difference.ours).map((d) => d.replaceAll(/[\d"]+/g, "#").slice(0, 160));
  const key = `${difference.step} ${operation?.patch ?? ""} ${operation?.subresource ?? ""} ${places[0] ?? ""}`;
  const known = found.get(key);
  if (!known || known.difference.before.length > difference.before.length)
    found.set(key, { difference, times: (known?.times ?? 0) + 1 });
  else known.times += 1;
}
await Promise.all(Array.from({ length: LANES }, lane));
for (const { difference, times } of [...found.values()].toSorted((a, b) => b.times - a.times)) {
  console.log(`${times}× ${described(difference)}\n`);
}
const seconds = (Date.now() - began) / 1000;
console.log(
  `seed ${seed}: ${runner.tally.operations} operations, ${[...found.values()].reduce((n, f) => n + f.times, 0)} sequences differ, ${found.size} kinds of difference, ${seconds.toFixed(1)} s`,
);
for (const [reason, times] of runner.tally.known) console.log(`known ${times}×: ${reason}`);
await runner.close();
await pair.close();
