/*
 * Whether a worker process takes so much of the processors that it is to give way to the others. JavaScript, as the
 * thread that imports it.
 */
import { readdirSync, readlinkSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/** Milliseconds between two checks. */
export const STEP = 100;
/**
 * Added to the nice value of a worker that gives way: it then has a tenth of what other workers get of a busy
 * processor.
 */
const GIVES_WAY = 10;
/**
 * The part of one processor from which a worker gives way at once, and below which it does so no longer: of the last
 * step, and on average of the last second.
 */
const MUCH = 0.5;
const LITTLE = 0.25;
const STEPS = 10;

/** Decides from what a worker uses of the processors whether it gives way. */
export class Pace {
  givesWay = false;
  #average = 0;

  /**
   * @param {number} used The part of one processor that all its threads used since the last check.
   * @returns {boolean} Whether it changed.
   */
  sample(used) {
    this.#average += (used - this.#average) / STEPS;
    const before = this.givesWay;
    this.givesWay = used >= MUCH || (before && this.#average >= LITTLE);
    return this.givesWay !== before;
  }
}

/**
 * Follows what this process uses, and sets the priority of all its threads but the one that calls. Undefined where that
 * is not possible: other systems than Linux, and users who may not raise a priority again.
 * @param {number} nice What its threads have while it does not give way.
 * @returns {(() => void) | undefined} To be called every STEP milliseconds.
 */
export function followPace(nice) {
  const own = ownThread();
  if (own === undefined || !mayRaise(own)) return undefined;
  const pace = new Pace();
  let used = processorTime();
  let at = performance.now();
  return () => {
    const [usedNow, now] = [processorTime(), performance.now()];
    const part = (usedNow - used) / Math.max(1, now - at);
    [used, at] = [usedNow, now];
    if (!pace.sample(part)) return;
    const to = Math.min(nice + (pace.givesWay ? GIVES_WAY : 0), constants.priority.PRIORITY_LOW);
    for (const thread of readdirSync("/proc/self/task")) if (Number(thread) !== own) set(Number(thread), to);
  };
}

/** Milliseconds of all processors that this process has used. */
function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function ownThread() {
  try {
    return Number(readlinkSync("/proc/thread-self").split("/").at(-1));
  } catch {
    return undefined;
  }
}

/** @param {number} own */
function mayRaise(own) {
  const nice = getPriority(own);
  return nice < constants.priority.PRIORITY_LOW && set(own, nice + 1) && set(own, nice);
}

/** @param {number} thread @param {number} nice */
function set(thread, nice) {
  try {
    setPriority(thread, nice);
    return true;
  } catch {
    // The thread ended meanwhile, or the user may not.
    return false;
  }
}
