import { VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import { measureRequests } from "./interruptions.ts";

/** In steps of a request each. */
async function advance(clock: VirtualClock, ms: number): Promise<void> {
  for (let past = 0; past < ms; past += 100) await clock.advance(100);
}

test("the longest time without a response is that between two responses, whatever failed meanwhile", async () => {
  const clock = new VirtualClock(0);
  const isAway = (): boolean => clock.now() >= 1_000 && clock.now() < 3_000;
  const requests = measureRequests(async () => {
    if (isAway()) throw new Error("connection refused");
  }, clock);
  await advance(clock, 5_000);
  const seen = await requests.end();
  expect(seen).toMatchObject({ failures: 20, why: "connection refused" });
  expect(seen.responses).toBeGreaterThan(25);
  expect(seen.longest).toBe(2_100);
});

test("an API that does not come back before the end is away until then", async () => {
  const clock = new VirtualClock(0);
  const requests = measureRequests(async () => {
    if (clock.now() >= 1_000) throw new Error("connection refused");
  }, clock);
  await advance(clock, 4_000);
  const { longest } = await requests.end();
  expect(longest).toBeGreaterThanOrEqual(3_000);
});
