/**
 * Schedules of what can go wrong between a cluster's objects and its cloud; after each exactly what is wanted, and
 * after its end nothing.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { play } from "./cluster-api-openstack/run.ts";
import { schedules } from "./cluster-api-openstack/schedule.ts";
import { ProviderFaultWorld } from "./cluster-api-openstack/world.ts";

const SCHEDULES = Number(process.env["CAUSEWAY_FAULT_PROVIDER"] ?? 2000);
/** The first one that is played: a run of many may be made in pieces. */
const FROM = Number(process.env["CAUSEWAY_FAULT_FROM"] ?? 0);
const SEED = Number(process.env["CAUSEWAY_FAULT_SEED"] ?? 1);
/** Milliseconds. */
const TIMEOUT = 120_000 + SCHEDULES * 60_000;
const ENOUGH = 5;

test(
  `${SCHEDULES} schedules of faults leave one of each resource of a cluster and its machines, and no orphan`,
  { timeout: TIMEOUT },
  async () => {
    let world = await ProviderFaultWorld.start();
    const bad: string[] = [];
    const begun = process.cpuUsage();
    try {
      for (const [i, schedule] of fc.sample(schedules, { numRuns: SCHEDULES, seed: SEED }).entries()) {
        if (i < FROM) continue;
        if (i > FROM && i % 20 === 0) console.log(`${i} schedules of seed ${SEED} played, ${bad.length} ended badly`);
        const wrong = await play(world, schedule);
        if (wrong === undefined) continue;
        bad.push(`${i}: ${wrong}: ${JSON.stringify(schedule)}`);
        console.log(bad.at(-1));
        if (bad.length >= ENOUGH) break;
        // What is left of it must not fail others.
        await world.close();
        world = await ProviderFaultWorld.start();
      }
    } finally {
      await world.close();
    }
    expect(bad).toEqual([]);
    const { user, system } = process.cpuUsage(begun);
    console.log(`${SCHEDULES - FROM} schedules of seed ${SEED} in ${Math.round((user + system) / 1e6)} s of CPU`);
  },
);
