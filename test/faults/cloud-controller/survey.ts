import fc from "fast-check";
import { expect } from "vitest";
import { play } from "./run.ts";
import { schedules } from "./schedule.ts";
import { FaultWorld } from "./world.ts";

const ENOUGH = 5;
/** How often it prints its progress. */
const MILESTONE = 100;

/** Plays so many schedules of that seed; fails with those that did not end well. */
export async function expectAllRight(count: number, seed: number): Promise<void> {
  let world = await FaultWorld.start();
  const bad: string[] = [];
  const begun = performance.now();
  try {
    for (const [i, schedule] of fc.sample(schedules, { numRuns: count, seed }).entries()) {
      if (i > 0 && i % MILESTONE === 0) console.log(`${i} schedules of seed ${seed} played, ${bad.length} ended badly`);
      const wrong = await play(world, schedule);
      if (wrong === undefined) continue;
      bad.push(`${i}: ${wrong}: ${JSON.stringify(schedule)}`);
      console.log(bad.at(-1));
      if (bad.length >= ENOUGH) break;
      // What is left of it must not fail others.
      await world.close();
      world = await FaultWorld.start();
    }
  } finally {
    await world.close();
  }
  expect(bad).toEqual([]);
  console.log(`${count} schedules of seed ${seed} in ${Math.round((performance.now() - begun) / 1000)} s`);
}
