/**
 * 2,000 schedules of what can go wrong between an Ingress and its load balancer; after each, exactly what is wanted,
 * and after its end nothing.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { play } from "./octavia-ingress/run.ts";
import { schedules } from "./octavia-ingress/schedule.ts";
import { IngressFaultWorld } from "./octavia-ingress/world.ts";

const SCHEDULES = Number(process.env["CAUSEWAY_FAULT_INGRESS"] ?? 2000);
const SEED = Number(process.env["CAUSEWAY_FAULT_SEED"] ?? 1);
/** Schedules before this one are left out: a long run can be continued, or be split among several machines. */
const FROM = Number(process.env["CAUSEWAY_FAULT_FROM"] ?? 0);
/** Where members are: at one place in all schedules; else at pods in one of four. */
const given = process.env["CAUSEWAY_FAULT_MEMBERS"];
const PLACE = given === "pods" || given === "nodes" ? given : undefined;
/** Milliseconds; a schedule takes two seconds of a free machine. */
const TIMEOUT = 120_000 + SCHEDULES * 15_000;
const ENOUGH = 5;

test(
  `${SCHEDULES} schedules of faults leave one load balancer for each Ingress, and no orphan`,
  { timeout: TIMEOUT },
  async () => {
    let world = await IngressFaultWorld.start();
    const bad: string[] = [];
    const begun = performance.now();
    try {
      for (const [i, schedule] of fc.sample(schedules, { numRuns: FROM + SCHEDULES, seed: SEED }).entries()) {
        if (i < FROM) continue;
        if (i > FROM && i % 20 === 0) console.log(`${i} schedules of seed ${SEED} played, ${bad.length} ended badly`);
        const place = PLACE ?? (i % 4 === 3 ? "pods" : "nodes");
        const wrong = await play(world, schedule, place);
        if (wrong === undefined) continue;
        bad.push(`${i} (members at ${place}): ${wrong}: ${JSON.stringify(schedule)}`);
        console.log(bad.at(-1));
        if (bad.length >= ENOUGH) break;
        // What is left of it must not fail others.
        await world.close();
        world = await IngressFaultWorld.start();
      }
    } finally {
      await world.close();
    }
    expect(bad).toEqual([]);
    console.log(
      `${SCHEDULES} schedules of seed ${SEED}, from ${FROM}, in ${Math.round((performance.now() - begun) / 1000)} s`,
    );
  },
);
