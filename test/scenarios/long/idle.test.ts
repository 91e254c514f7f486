/**
 * A demo at rest: a read of every type once a minute, whatever the number of machines. The whole minute is measured in
 * test/faults/idle.test.ts; here a quarter of it, with three workers and with thirty side by side.
 */
import { expect, test, vi } from "vitest";
import { TIMEOUT } from "../../support/processes.ts";
import { idleCost, restingDemo } from "../../support/idle.ts";
import { describeCall } from "../../support/stage.ts";

// It runs processes.
vi.setConfig({ testTimeout: 300_000 });

const seconds = 1000;

test("no type is requested twice within a quarter of a minute, nothing is written, and no single object is requested", async () => {
  const counts = [3, 30];
  const stages = await Promise.all(counts.map((workers) => restingDemo(workers, TIMEOUT)));
  try {
    const costs = await Promise.all(stages.map((stage, i) => idleCost(stage, counts[i] ?? 0, 15 * seconds)));
    for (const { workers, calls, writes } of costs) {
      const asked = calls.map(describeCall);
      console.log(`${workers} workers: ${asked.length} calls in 15 s: ${asked.join(", ")}`);
      expect(writes).toEqual([]);
      expect(new Set(asked).size).toBe(asked.length);
      expect(asked.filter((call) => call.includes("ID"))).toEqual([]);
    }
  } finally {
    for (const stage of stages) await stage.close();
  }
});
