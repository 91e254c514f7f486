/** A short round of what `npm run bench -- informers` does for half an hour. */
import { expect, test, vi } from "vitest";
import { soak } from "../../soak/soak.ts";
import { TIMEOUT } from "../../support/processes.ts";

// Processes start slowly next to others on a busy machine.
vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

test("informers miss nothing while resources change and a third of the calls fail", async () => {
  const rounds = await soak({ objects: 300, rounds: 2, changing: 4_000, interval: 200, failing: 1 / 3, seed: 7 });
  expect(rounds.map(({ complete, objects, unfounded }) => ({ complete, objects, unfounded }))).toEqual([
    { complete: true, objects: 300, unfounded: 0 },
    { complete: true, objects: 300, unfounded: 0 },
  ]);
  const last = rounds.at(-1);
  expect(last?.changes).toBeGreaterThan(50);
  expect(last?.deletions).toBeGreaterThan(0);
  expect(last?.faults).toBeGreaterThan(0);
});
