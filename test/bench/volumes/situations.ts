import { scaled, type Figures } from "../load-balancer/rows.ts";
import type { Stage } from "./stage.ts";

export interface Outcome {
  readonly figures: Figures;
  readonly note?: string;
}

export interface Limits {
  /** Seconds that a row may take. */
  readonly seconds: number;
  /** Real minutes of the idle row. */
  readonly idleMinutes: number;
}

/** One thing that happens to a driver. It leaves the stage as the next one in the list expects it. */
export interface Situation {
  readonly name: string;
  readonly run: (stage: Stage, limits: Limits) => Promise<Outcome>;
}

const LOOK = 100;
/** Without a call for so long (ms), a driver is done. */
const QUIET = 4_000;
/** But what it does after the goal is reached is counted for so long (ms) at most. */
const AFTERWARDS = 12_000;

const NODES = 20;
const CLAIMS = 100;
const DRAINED = 20;
const LATE = 20;
const VOLUMES = 1_000;

const nodeName = (at: number): string => `node-${String(at).padStart(2, "0")}`;
const drainedNode = nodeName(NODES);
const claims = Array.from({ length: CLAIMS }, (_, i) => `claim-${i}`);
const late = Array.from({ length: LATE }, (_, i) => `late-${i}`);
const moving = Array.from({ length: DRAINED }, (_, i) => `moving-${i}`);
const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));
const podsOf = (names: readonly string[], node: (at: number) => string, suffix = "") =>
  names.map((claim, at) => ({ name: `${claim}${suffix}`, claim, node: node(at) }));

/**
 * Nodes, and a claim that comes, is used and goes: no row pays for a process's first requests. Then the node that is
 * drained later.
 */
export async function prepare(stage: Stage): Promise<void> {
  const { cluster } = stage;
  await cluster.addNodes(await stage.cloud.addServers(NODES + 1));
  await stage.startPod();
  await cluster.addClaims(["first"]);
  await cluster.addPods(podsOf(["first"], () => nodeName(0)));
  await required(stage, "the first attachment", async () => (await cluster.attached()).get(nodeName(0)) === 1);
  await cluster.addSnapshots(["first"]);
  await required(stage, "the first snapshot", async () => (await cluster.readySnapshots()) === 1);
  await cluster.removeSnapshots(["first"]);
  await required(stage, "the end of the first snapshot", async () => (await cluster.snapshots()) === 0);
  await cluster.removePods(["first"]);
  await required(stage, "the first detachment", async () => (await cluster.attached()).size === 0);
  await cluster.removeClaims(["first"]);
  await required(stage, "the end of the first volume", async () => (await cluster.volumes()) === 0);
  await quiet(stage, 40_000);
}

export const situations: readonly Situation[] = [
  {
    name: `make and attach ${CLAIMS} claims over ${NODES} nodes`,
    run: (stage, limits) =>
      act(stage, limits, {
        work: async () => {
          await stage.cluster.addClaims(claims);
          await stage.cluster.addPods(podsOf(claims, (at) => nodeName(at % NODES)));
        },
        done: () => attachedOver(stage, CLAIMS),
      }),
  },
  {
    name: `drain a node of ${DRAINED} volumes`,
    async run(stage, limits) {
      const { cluster } = stage;
      await cluster.addClaims(moving);
      await cluster.addPods(podsOf(moving, () => drainedNode));
      await required(stage, "the node's volumes", async () => (await cluster.attached()).get(drainedNode) === DRAINED);
      await quiet(stage, 40_000);
      return act(stage, limits, {
        work: async () => {
          await cluster.removePods(moving);
          await cluster.addPods(podsOf(moving, (at) => nodeName(at % NODES), "-again"));
        },
        done: () => attachedOver(stage, CLAIMS + DRAINED),
      });
    },
  },
  {
    name: `snapshot ${CLAIMS} volumes`,
    run: (stage, limits) =>
      act(stage, limits, {
        work: () => stage.cluster.addSnapshots(claims),
        done: async () => (await stage.cluster.readySnapshots()) === CLAIMS,
      }),
  },
];

export const detachment: Situation = {
  name: `detach ${CLAIMS} volumes`,
  async run(stage, limits) {
    const before = await attachedIn(stage);
    return act(stage, limits, {
      work: () => stage.cluster.removePods(claims),
      done: async () => (await attachedIn(stage)) === before - CLAIMS,
    });
  },
};

/** With the volumes attached, and others that no cluster uses. */
export const restart: Situation = {
  name: `restart with ${VOLUMES} volumes`,
  async run(stage) {
    await stage.cloud.addVolumes(VOLUMES - CLAIMS - DRAINED);
    await stage.stopPod();
    const figures = await stage.measure(async () => {
      const begun = performance.now();
      const started = Date.now();
      await stage.startPod();
      await until(async () => stage.cloud.lastCallAt() >= started, begun + 90_000);
      await quiet(stage, 60_000);
      return (stage.cloud.lastCallAt() - Date.now() + performance.now() - begun) / 1000;
    });
    return { figures: { ...figures, cpuSeconds: stage.cost().cpuSeconds } };
  },
};

/** The same, while claims and pods wait that were made when no driver ran. */
export const resumption: Situation = {
  name: `restart with ${VOLUMES} volumes and ${LATE} claims that wait`,
  async run(stage, limits) {
    await stage.stopPod();
    await stage.cluster.addClaims(late);
    await stage.cluster.addPods(podsOf(late, nodeName));
    const before = await attachedIn(stage);
    const outcome = await act(stage, limits, {
      work: () => stage.startPod(),
      done: async () => (await attachedIn(stage)) === before + LATE,
    });
    return { ...outcome, figures: { ...outcome.figures, cpuSeconds: stage.cost().cpuSeconds } };
  },
};

/** Nothing happens; an hour, from what so many minutes cost. */
export const idle: Situation = {
  name: `an idle hour with ${VOLUMES} volumes`,
  async run(stage, { idleMinutes }) {
    await quiet(stage, 60_000);
    const figures = await stage.measure(async () => {
      await pause(idleMinutes * 60_000);
      return idleMinutes * 60;
    });
    return { figures: scaled(figures, 60 / idleMinutes), note: `${idleMinutes} real minutes, scaled` };
  },
};

async function attachedOver(stage: Stage, count: number): Promise<boolean> {
  const counts = await stage.cluster.attached();
  return !counts.has("") && !counts.has(drainedNode) && total(counts) === count;
}

/** Not a number while an attachment changes. */
async function attachedIn(stage: Stage): Promise<number> {
  const counts = await stage.cluster.attached();
  return counts.has("") ? Number.NaN : total(counts);
}

const total = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, each) => sum + each, 0);

interface Act {
  readonly work: () => Promise<void>;
  readonly done: () => Promise<boolean>;
}

/** Does it, and waits until all is as it is to be; the time to that, and the calls until nothing more comes. */
async function act(stage: Stage, { seconds: limit }: Limits, { work, done }: Act): Promise<Outcome> {
  let note: string | undefined;
  const figures = await stage.measure(async () => {
    const begun = performance.now();
    await work();
    const reached = await until(done, begun + limit * 1000);
    const seconds = (performance.now() - begun) / 1000;
    if (!reached) note = `not done after ${Math.round(seconds)} s`;
    await quiet(stage, AFTERWARDS);
    return seconds;
  });
  return { figures, ...(note === undefined ? {} : { note }) };
}

async function required(stage: Stage, what: string, test: () => Promise<boolean>): Promise<void> {
  if (await until(test, performance.now() + 180_000)) return;
  throw new Error(`${what}: not reached in three minutes; the logs end with:\n${stage.logs()}`);
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
  while (Date.now() < end && Date.now() - stage.cloud.lastCallAt() < QUIET) await pause(LOOK);
}
