/** One idle minute, by the clock: it costs no more calls with fifty workers than with three, and no write. */
import { expect, test } from "vitest";
import { idleCost, restingDemo, type IdleCost } from "../support/idle.ts";
import { describeCall } from "../support/stage.ts";

const seconds = 1000;

test("an idle minute costs no more OpenStack calls with 50 workers than with 3", async () => {
  const costs: IdleCost[] = [];
  for (const workers of [3, 50]) {
    const stage = await restingDemo(workers, 300 * seconds);
    try {
      costs.push(await idleCost(stage, workers, 60 * seconds));
    } finally {
      await stage.close();
    }
  }
  for (const { workers, calls, writes } of costs) {
    console.log(`${workers} workers: ${calls.length} calls in an idle minute: ${calls.map(describeCall).join(", ")}`);
    expect(writes.map(describeCall)).toEqual([]);
  }
  const [three, fifty] = costs;
  expect(fifty?.calls.length).toBeLessThanOrEqual(three?.calls.length ?? 0);
});
