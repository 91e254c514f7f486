/**
 * Every write of the demo is executed and its answer lost, one in each run, without any kill: the same process
 * continues.
 */
import { expect, test } from "vitest";
import { loseAnswers } from "../support/cut.ts";
import { demoInventory } from "../support/reference.ts";
import { describeCall, isWrite, openStage, settled } from "../support/stage.ts";

test("a demo that loses the answer of one write, whichever it is, has exactly one of each resource", async () => {
  const bad: string[] = [];
  let writes = 0;
  for (let number = 1; ; number++) {
    const stage = await openStage();
    try {
      let seen = 0;
      const lost = loseAnswers(stage, (call) => isWrite(call) && ++seen === number);
      await stage.up("--demo").until(/demo ready: .*\n/);
      const have = await settled(stage, demoInventory);
      const [call] = lost;
      if (call === undefined) break;
      writes += 1;
      const ok = JSON.stringify(have) === JSON.stringify(demoInventory);
      console.log(`${String(number).padStart(3)}  lost    ${ok ? "ok " : "BAD"}  ${describeCall(call)}`);
      if (!ok) bad.push(`${number} ${describeCall(call)}: ${have.join(", ")}`);
    } finally {
      await stage.close();
    }
  }
  expect(bad).toEqual([]);
  expect(writes).toBeGreaterThan(10);
});
