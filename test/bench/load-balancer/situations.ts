import type { Figures } from "./rows.ts";
import { scaled } from "./rows.ts";
import type { Stage } from "./stage.ts";

/** One thing that happens to a controller. It leaves the stage as the next one in the list expects it. */
export interface Situation {
  readonly name: string;
  readonly run: (stage: Stage, limits: Limits) => Promise<Outcome>;
}

export interface Outcome {
  readonly figures: Figures;
  readonly note?: string;
}

export interface Limits {
  /** Seconds that a row may take; what is not done by then is reckoned from what is. */
  readonly seconds: number;
  /** Real minutes of the idle row. */
  readonly idleMinutes: number;
}

const LOOK = 100;
/** Without a call for so long (ms), a controller is done. */
const QUIET = 4_000;
/** But what it does after the goal is reached is counted for so long (ms) at most. */
const AFTERWARDS = 12_000;
/** Seconds that a row of one Service may take at least: it cannot be reckoned from a part. */
const SINGLE = 300;
const MANY = 200;

const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `many-${i}`);

/**
 * Before anything is measured: a Service comes, a node follows, the Service goes. No row pays for a process's first
 * questions.
 */
export async function warmUp(stage: Stage): Promise<void> {
  const goal = async (): Promise<void> => {
    if (!(await until(() => stage.reached(), performance.now() + 120_000)))
      throw new Error("the first Service never was served");
  };
  await stage.addServices(["first"], 1);
  await goal();
  await stage.addNodes(1);
  await goal();
  // A Service that goes while its nodes are still being minded would keep the upstream controller waiting for minutes.
  await quiet(stage, AFTERWARDS);
  await stage.removeServices(["first"]);
  await goal();
  await quiet(stage, AFTERWARDS);
}

/** In order, on 80 nodes. */
export const ordinary: readonly Situation[] = [
  {
    name: "create one Service, 3 ports, 80 nodes",
    run: (stage, limits) => act(stage, limits, () => stage.addServices(["web"], 3)),
  },
  {
    name: "add one node, 3 ports, 80 nodes",
    run: async (stage, limits) => act(stage, limits, await stage.prepareNodes(1)),
  },
  {
    name: "replace 80 nodes, 3 ports",
    run: async (stage, limits) => act(stage, limits, await stage.prepareReplacement(80)),
  },
  { name: "delete the Service", run: (stage, limits) => act(stage, limits, () => stage.removeServices(["web"])) },
];

export const manyAtOnce: Situation = { name: `${MANY} Services at once`, run: serveMany };
/** After the former. */
export const restart: Situation = { name: `restart with ${MANY} Services`, run: runAgain };

/** On 200 nodes. */
export const wide: readonly Situation[] = [
  {
    name: "create one Service, 10 ports, 200 nodes",
    run: (stage, limits) => act(stage, limits, () => stage.addServices(["wide"], 10)),
  },
  {
    name: "one node leaves, 10 ports × 200 nodes",
    run: (stage, limits) => act(stage, limits, () => stage.removeNode()),
  },
];

/** Does it, and waits until all is as it is to be; the time to that, and the calls until nothing more comes. */
async function act(stage: Stage, { seconds: limit }: Limits, work: () => Promise<void>): Promise<Outcome> {
  let note: string | undefined;
  const figures = await stage.measure(async () => {
    const begun = performance.now();
    await work();
    const reached = await until(() => stage.reached(), begun + Math.max(SINGLE, limit) * 1000);
    const seconds = (performance.now() - begun) / 1000;
    if (!reached) note = `not done after ${Math.round(seconds)} s`;
    await quiet(stage, AFTERWARDS);
    return seconds;
  });
  return { figures, ...(note === undefined ? {} : { note }) };
}

async function serveMany(stage: Stage, { seconds: limit }: Limits): Promise<Outcome> {
  let note: string | undefined;
  let served: number = MANY;
  const figures = await stage.measure(async () => {
    const begun = performance.now();
    await stage.addServices(names(MANY), 1);
    const reached = await until(() => stage.reached(), begun + limit * 1000);
    const seconds = (performance.now() - begun) / 1000;
    if (reached) await quiet(stage, AFTERWARDS);
    else served = await stage.servedServices();
    if (!reached) note = `${served} of ${MANY} after ${Math.round(seconds)} s, scaled`;
    return seconds;
  });
  return { figures: scaled(figures, MANY / Math.max(1, served)), ...(note === undefined ? {} : { note }) };
}

/** What would take the rest of the day: the cloud becomes an instant one until all is done. */
async function hurry(stage: Stage): Promise<void> {
  const { name, cycle } = stage.cloud.provider;
  const delay = (milliseconds: number): void =>
    ["create", "update", "delete"].forEach((verb) =>
      stage.cloud.simulator.setDelay(`loadbalancer.${name}.${verb}`, milliseconds),
    );
  if (await stage.reached()) return;
  delay(0);
  if (!(await until(() => stage.reached(), performance.now() + 900_000)))
    throw new Error("200 Services never were served");
  delay(cycle);
  await quiet(stage, AFTERWARDS);
}

async function runAgain(stage: Stage): Promise<Outcome> {
  await hurry(stage);
  await stage.stopController();
  let last = 0;
  const figures = await stage.measure(async () => {
    const begun = performance.now();
    await stage.startController();
    const started = Date.now();
    await until(async () => stage.lastCallAt() >= started, begun + 60_000);
    await quiet(stage, 300_000);
    last = (stage.lastCallAt() - Date.now() + performance.now() - begun) / 1000;
    return last;
  });
  return { figures: { ...figures, cpuSeconds: stage.cost().cpuSeconds } };
}

/** Nothing happens; an hour, from what so many minutes cost. */
export async function idle(stage: Stage, { idleMinutes }: Limits): Promise<Outcome> {
  await quiet(stage, 60_000);
  const figures = await stage.measure(async () => {
    await pause(idleMinutes * 60_000);
    return idleMinutes * 60;
  });
  return { figures: scaled(figures, 60 / idleMinutes), note: `${idleMinutes} real minutes, scaled` };
}

/** False when the deadline (of `performance.now`) comes first. */
async function until(test: () => Promise<boolean>, deadline: number): Promise<boolean> {
  while (!(await test())) {
    if (performance.now() > deadline) return false;
    await pause(LOOK);
  }
  return true;
}

/** Until no call has come for a while, or `limit` milliseconds are over. */
export async function quiet(stage: Stage, limit: number): Promise<void> {
  const end = Date.now() + limit;
  while (Date.now() < end && Date.now() - stage.lastCallAt() < QUIET) await pause(LOOK);
}
