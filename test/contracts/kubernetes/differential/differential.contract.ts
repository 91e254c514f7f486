/**
 * Random operations, one and the same on a real kube-apiserver and on ours: what they answer and what comes of it is to
 * be alike. CAUSEWAY_FUZZ_OPERATIONS says how many operations to try, four in ten of them around apply, with
 * CAUSEWAY_FUZZ_WORKLOADS three in ten more about workloads; CAUSEWAY_FUZZ_SEED with which seed, a number or "random";
 * CAUSEWAY_FUZZ_REPLAY repeats one sequence that differed.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineBoth } from "./defining.ts";
import { Runner } from "./run.ts";
import { replay, search } from "./search.ts";
import type { Profile } from "./sequences.ts";
import { startPair } from "./servers.ts";

const { CAUSEWAY_FUZZ_SEED: given = "3", CAUSEWAY_FUZZ_REPLAY: REPLAY } = process.env;
const SEED = given === "random" ? Math.floor(Math.random() * 1_000_000) : Number(given);
const OPERATIONS = Number(process.env["CAUSEWAY_FUZZ_OPERATIONS"] ?? 10_000);
const WITH_WORKLOADS = process.env["CAUSEWAY_FUZZ_WORKLOADS"] !== undefined;
const AN_HOUR = { timeout: 3_600_000, retry: 0 };

describe(`random operations on both servers (CAUSEWAY_FUZZ_SEED=${SEED})`, () => {
  let pair: Awaited<ReturnType<typeof startPair>> | undefined;
  let runner: Runner | undefined;
  let failure: unknown;

  beforeAll(async () => {
    try {
      pair = await startPair();
      runner = new Runner(pair, SEED);
    } catch (error) {
      // Every case throws it, so that servers that do not start count as failed, not as skipped.
      failure = error;
    }
  }, 120_000);
  afterAll(async () => {
    const known = [...(runner?.tally.known ?? [])].map(([reason, times]) => `  known, ${times} times: ${reason}`);
    console.log([`${runner?.tally.operations ?? 0} operations compared, seed ${SEED}`, ...known].join("\n"));
    await runner?.close();
    await pair?.close();
  });

  const tried = async (profile: Profile, operations: number): Promise<void> => {
    if (runner === undefined) throw failure;
    const before = runner.tally.operations;
    const found = await search(runner, { profile, seed: SEED, operations });
    expect(found.join("\n\n")).toBe("");
    expect(runner.tally.operations - before).toBeGreaterThanOrEqual(operations);
  };

  test.runIf(REPLAY !== undefined)("a sequence that differed", AN_HOUR, async () => {
    if (runner === undefined) throw failure;
    expect((await replay(runner, REPLAY ?? "")).join()).toBe("");
  });

  describe.skipIf(REPLAY !== undefined)("new sequences", () => {
    test("create, read, update, patch and delete answer alike, and leave the same", AN_HOUR, () =>
      tried("general", Math.ceil(OPERATIONS * 0.6)),
    );
    test("server-side apply merges and owns alike", AN_HOUR, () => tried("apply", Math.ceil(OPERATIONS * 0.4)));
    test.runIf(WITH_WORKLOADS)("pods, Deployments and Jobs are held to the same rules", AN_HOUR, () =>
      tried("workloads", Math.ceil(OPERATIONS * 0.3)),
    );
    test("CRDs are accepted and refused alike", AN_HOUR, async () => {
      if (pair === undefined) throw failure;
      const count = Math.ceil(OPERATIONS / 50);
      const { found, skipped } = await defineBoth(pair, { seed: SEED, count });
      console.log(`${count - skipped} CRDs compared, seed ${SEED}`);
      expect(found.join("\n\n")).toBe("");
      expect(skipped).toBeLessThan(Math.max(count / 20, 2));
    });
  });
});
