/**
 * 500 schedules of what can go wrong while workloads are created, scaled and updated; after each, exactly the pods that
 * are wanted.
 */
import { startApiServer } from "@causeway/apiserver";
import type { Clock } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import { playSchedule, scheduleOf } from "@causeway/workload-controllers/testing";
import { expect, test } from "vitest";

const SCHEDULES = Number(process.env["CAUSEWAY_FAULT_WORKLOADS"] ?? 500);
const SEED = Number(process.env["CAUSEWAY_FAULT_SEED"] ?? 1);
/** Played at once: they mostly wait. */
const LANES = 12;
/** Milliseconds; a schedule takes two seconds of a free machine. */
const TIMEOUT = 300_000 + SCHEDULES * 30_000;

test(
  `${SCHEDULES} schedules of faults leave the wanted pods, and neither orphans nor pods beyond maxSurge`,
  { timeout: TIMEOUT },
  async () => {
    const seeds = Array.from({ length: SCHEDULES }, (_, i) => SEED + i);
    const problems: string[] = [];
    let played = 0;
    const lane = async () => {
      for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
        const schedule = scheduleOf(seed);
        const found = await playSchedule(schedule, serve).catch((error: unknown) => [String(error)]);
        problems.push(...found.map((problem) => `${JSON.stringify(schedule)}: ${problem}`));
        if (++played % 50 === 0) console.log(`${played} schedules, ${problems.length} problems`);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    expect(problems, `play one again: CAUSEWAY_FAULT_WORKLOADS=1 CAUSEWAY_FAULT_SEED=<seed>`).toEqual([]);
  },
);

/** A server whose client needs no connection. */
async function serve(clock: Clock) {
  const { promise, resolve } = Promise.withResolvers<KubernetesClient>();
  const server = await startApiServer({
    clock,
    management: { controllers: true },
    controllers(cluster) {
      resolve(cluster.client({ name: "kubernetes-admin", groups: ["system:masters"] }));
      return { stop: () => Promise.resolve() };
    },
  });
  return { management: server.management, client: await promise, close: () => server.close() };
}
