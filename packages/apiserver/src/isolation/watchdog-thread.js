/*
 * A thread that watches the main thread of its process: whether the event loop turns, who holds it, and how much memory
 * the process has. JavaScript, since a thread that loads no TypeScript takes half the memory. What counts is the
 * processor time that the main thread used since its last turn, so that a process that was suspended, or that shares
 * its processors with many others, does not count as stuck. Who waits without using any (for a disk that does not
 * answer) is stuck when that takes `BLOCKED` times as long.
 */
import { readFileSync, writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { followPace, STEP } from "./pace.js";
import { LENGTH, STOP, TEXT, TURNS } from "./watchdog-words.js";

/**
 * @typedef {object} WatchdogData
 * @property {SharedArrayBuffer} shared As watchdog-words.js says.
 * @property {number} interval Milliseconds between two checks.
 * @property {number} near MiB of resident memory from which it is reported.
 * @property {number} [fd] Where a worker process reports to; the supervisor acts on it.
 * @property {number} [nice] Of a worker process: the nice value that its threads have while it does not give way to
 * others.
 * @property {number} [abortAfter] Without `fd`: milliseconds after which the process is aborted.
 */

const MIB = 1 << 20;
const BLOCKED = 6;
/** Of the unit that Linux counts processor time in, as programs see it, a second has so many on every architecture. */
const TICKS = 100;

/** @param {WatchdogData} data */
function watch({ shared, interval, near, fd, nice, abortAfter }) {
  const words = new Int32Array(shared, 0, 4);
  const pace = nice === undefined ? undefined : followPace(nice);
  const text = Buffer.from(shared, TEXT);
  const parent = process.ppid;
  const holder = () => text.toString("utf8", 0, Math.min(Math.max(Atomics.load(words, LENGTH), 0), text.length));
  /** @param {Record<string, number>} facts */
  const report = (facts) => {
    const report = { ...facts, holder: holder() };
    if (fd === undefined) parentPort?.postMessage(report);
    else writeSync(fd, `${JSON.stringify(report)}\n`);
  };
  let turns = 0;
  let still = 0;
  let used = 0;
  let isReported = false;
  for (;;) {
    rest(words, interval, pace);
    if (Atomics.load(words, STOP) !== 0) return;
    const now = Atomics.load(words, TURNS);
    still = now === turns ? still + 1 : 0;
    turns = now;
    // The first check after a turn may come right after it.
    if (still <= 1) used = still === 1 ? processorTime() : 0;
    const waited = Math.max(0, (still - 1) * interval) / 1000;
    const seconds = still <= 1 ? 0 : Math.round(10 * Math.max(processorTime() - used, waited / BLOCKED)) / 10;
    const orphaned = fd !== undefined && process.ppid !== parent;
    // Who has no parent any more is ended by the main thread at once, if that turns.
    if (orphaned && still > 2) process.kill(process.pid, "SIGKILL");
    if (orphaned) continue;
    // What was reported is withdrawn when the thread turns again.
    if (seconds >= 1 || (isReported && still === 0)) report({ stuck: seconds });
    if (still === 0) isReported = false;
    else isReported ||= seconds >= 1;
    const resident = process.memoryUsage.rss() / MIB;
    if (resident >= near) report({ memory: Math.round(resident) });
    if (abortAfter !== undefined && seconds * 1000 >= abortAfter) abort(seconds, holder());
  }
}

/**
 * Waits until the next check, or until it has to stop.
 * @param {Int32Array} words @param {number} interval @param {(() => void) | undefined} pace
 */
function rest(words, interval, pace) {
  if (!pace) return void Atomics.wait(words, STOP, 0, interval);
  for (let waited = 0; waited < interval && Atomics.load(words, STOP) === 0; waited += STEP) {
    Atomics.wait(words, STOP, 0, STEP);
    pace();
  }
}

/** Seconds of a processor that the main thread has used; of the clock where the system does not say. */
function processorTime() {
  try {
    const stat = readFileSync(`/proc/self/task/${process.pid}/stat`, "latin1");
    const [user = 0, system = 0] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14).map(Number);
    return (user + system) / TICKS;
  } catch {
    return performance.now() / 1000;
  }
}

/** @param {number} seconds @param {string} held */
function abort(seconds, held) {
  const [cluster = "", request = ""] = held.split("\n");
  const msg = `the management process made no progress for ${seconds} s and is aborted; a supervisor such as systemd starts it again`;
  const about = { level: "error", time: new Date().toISOString(), code: "APISERVER_STUCK", cluster, request, msg };
  writeSync(2, `${JSON.stringify(about)}\n`);
  process.kill(process.pid, "SIGABRT");
}

watch(/** @type {WatchdogData} */ (workerData));
