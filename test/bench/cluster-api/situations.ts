import { scaled, type Figures } from "../load-balancer/rows.ts";
import type { Stage } from "./stage.ts";

export interface Limits {
  /** Seconds that a row may take. */
  readonly seconds: number;
  /** Real minutes of the row at rest. */
  readonly idleMinutes: number;
}

export interface Outcome {
  readonly figures: Figures;
  readonly note?: string;
}

const LOOK = 250;
/** Machines that are printed where a goal was not reached. */
const SHOWN = 20;
/** Without a call for so long (ms), the managers are done. */
const QUIET = 8_000;
/** What they do after the goal is reached is counted for so long (ms) at most. */
const AFTERWARDS = 30_000;

const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/** Creates the Clusters; done when all of their Machines run. */
export function create(stage: Stage, names: readonly string[], machines: number, limits: Limits): Promise<Outcome> {
  const reached = (): Promise<boolean> => Promise.resolve(stage.running() === names.length * machines);
  return act(stage, { work: () => stage.create(names), reached, limits });
}

/** Deletes them; done when no Cluster is left. */
export function remove(stage: Stage, names: readonly string[], limits: Limits): Promise<Outcome> {
  const reached = async (): Promise<boolean> => (await stage.clusters()) === 0;
  return act(stage, { work: () => stage.delete(names), reached, limits });
}

/** The managers are ended and started; done when no more calls come. */
export async function restart(stage: Stage): Promise<Outcome> {
  await stage.stopManagers();
  const work = async (): Promise<number> => {
    const begun = Date.now();
    await stage.startManagers();
    await until(() => Promise.resolve(stage.cloud.lastCallAt() > begun), 60_000);
    await quiet(stage, 120_000);
    return Math.max(0, stage.cloud.lastCallAt() - begun) / 1000;
  };
  return { figures: await stage.measure(work, { fresh: true }) };
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

/** A server is deleted by another; done when its Machine says so. */
export async function notice(stage: Stage, { seconds }: Limits): Promise<Outcome> {
  let lost = "";
  return act(stage, {
    work: async () => void (lost = await stage.loseServer()),
    reached: () => Promise.resolve(stage.isNoticed(lost)),
    limits: { seconds, idleMinutes: 0 },
  });
}

interface Act {
  readonly work: () => Promise<void>;
  readonly reached: () => Promise<boolean>;
  readonly limits: Limits;
}

async function act(stage: Stage, { work, reached, limits }: Act): Promise<Outcome> {
  let note: string | undefined;
  const figures = await stage.measure(async () => {
    const begun = performance.now();
    await work();
    const isReached = await until(reached, limits.seconds * 1000);
    const seconds = (performance.now() - begun) / 1000;
    if (!isReached) {
      note = `not done after ${Math.round(seconds)} s`;
      const all = stage.machines();
      const late = all.filter(({ status }) => status?.phase !== "Running");
      const shown = (late.length > 0 ? late : all)
        .slice(0, SHOWN)
        .map(({ metadata, status }) => [metadata.name, status]);
      console.error(`${late.length} of ${all.length} Machines are not Running: ${JSON.stringify(shown)}`);
      console.error(stage.words());
    } else await quiet(stage, AFTERWARDS);
    return seconds;
  });
  return { figures, ...(note === undefined ? {} : { note }) };
}

/** False when the time (ms) comes first. Tests take a sixth of the time at most, however much there is to list. */
async function until(test: () => Promise<boolean>, milliseconds: number): Promise<boolean> {
  const end = performance.now() + milliseconds;
  for (;;) {
    const begun = performance.now();
    if (await test()) return true;
    if (performance.now() > end) return false;
    await pause(Math.max(LOOK, 5 * (performance.now() - begun)));
  }
}

/** Until no call has come for a while, or `limit` milliseconds are over. */
async function quiet(stage: Stage, limit: number): Promise<void> {
  const end = Date.now() + limit;
  while (Date.now() < end && Date.now() - stage.cloud.lastCallAt() < QUIET) await pause(LOOK);
}
