/**
 * Random operations, one and the same on a real kube-apiserver and on ours: what they answer and what comes of it is to be alike.
 * CAUSEWAY_FUZZ_SEED repeats a run; CAUSEWAY_FUZZ_OPERATIONS says how many operations to try, three in ten of them around apply.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineBoth } from "./defining.ts";
import { Runner } from "./run.ts";
import { search } from "./search.ts";
import { startPair } from "./servers.ts";

const SEED = Number(process.env["CAUSEWAY_FUZZ_SEED"] ?? Math.floor(Math.random() * 1_000_000));
const OPERATIONS = Number(process.env["CAUSEWAY_FUZZ_OPERATIONS"] ?? 10_000);
const HALF_AN_HOUR = 1_800_000;

describe(`random operations on both servers (CAUSEWAY_FUZZ_SEED=${SEED})`, () => {
  let pair: Awaited<ReturnType<typeof startPair>> | undefined;
  let runner: Runner | undefined;
  let failure: unknown;

  beforeAll(async () => {
    try {
      pair = await startPair();
      runner = new Runner(pair, SEED);
    } catch (error) {
      // Told by every case, so that servers that do not start count as failed, not as skipped.
      failure = error;
    }
  }, 120_000);
  afterAll(async () => {
    const told = [...(runner?.tally.known ?? [])].map(([reason, times]) => `  known, ${times} times: ${reason}`);
    console.log([`${runner?.tally.operations ?? 0} operations compared, seed ${SEED}`, ...told].join("\n"));
    await runner?.close();
    await pair?.close();
  });

  const tried = async (profile: "general" | "apply", operations: number): Promise<void> => {
    if (runner === undefined) throw failure;
    const found = await search(runner, { profile, seed: SEED, operations });
    expect(found.join("\n\n")).toBe("");
    expect(runner.tally.operations).toBeGreaterThanOrEqual(operations);
  };

  test(
    "create, read, update, patch and delete answer alike, and leave the same",
    () => tried("general", Math.ceil(OPERATIONS * 0.7)),
    HALF_AN_HOUR,
  );
  test("server-side apply merges and owns alike", () => tried("apply", Math.ceil(OPERATIONS * 0.3)), HALF_AN_HOUR);
  test(
    "definitions are taken and refused alike",
    async () => {
      if (pair === undefined) throw failure;
      const count = Math.ceil(OPERATIONS / 50);
      const { found, skipped } = await defineBoth(pair, { seed: SEED, count });
      console.log(`${count - skipped} definitions compared, seed ${SEED}`);
      expect(found.join("\n\n")).toBe("");
      expect(skipped).toBeLessThan(Math.max(count / 20, 2));
    },
    HALF_AN_HOUR,
  );
});
