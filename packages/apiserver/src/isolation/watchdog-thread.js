/*
 * A thread that watches the main thread of its process: whether the event loop turns, who holds it, and how much memory the process has. JavaScript,
 * since a thread that loads no TypeScript takes half the memory. Times are counted in own wake-ups, so that a process that was suspended or got no
 * processor time does not count as stuck.
 */
import { writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { LENGTH, STOP, TEXT, TURNS } from "./watchdog-words.js";

/**
 * @typedef {object} WatchdogData
 * @property {SharedArrayBuffer} shared As watchdog-words.js says.
 * @property {number} interval Milliseconds between two looks.
 * @property {number} near MiB of resident memory from which it is reported.
 * @property {number} [fd] Where a worker process reports to; the supervisor acts on it.
 * @property {number} [abortAfter] Without `fd`: milliseconds after which the process is aborted.
 */

const MIB = 1 << 20;

/** @param {WatchdogData} data */
function watch({ shared, interval, near, fd, abortAfter }) {
  const words = new Int32Array(shared, 0, 4);
  const text = Buffer.from(shared, TEXT);
  const parent = process.ppid;
  const holder = () => text.toString("utf8", 0, Math.min(Math.max(Atomics.load(words, LENGTH), 0), text.length));
  /** @param {Record<string, number>} facts */
  const report = (facts) => {
    const told = { ...facts, holder: holder() };
    if (fd === undefined) parentPort?.postMessage(told);
    else writeSync(fd, `${JSON.stringify(told)}\n`);
  };
  let turns = 0;
  let still = 0;
  for (;;) {
    Atomics.wait(words, STOP, 0, interval);
    if (Atomics.load(words, STOP) !== 0) return;
    const now = Atomics.load(words, TURNS);
    still = now === turns ? still + 1 : 0;
    turns = now;
    const seconds = ((still - 1) * interval) / 1000;
    const orphaned = fd !== undefined && process.ppid !== parent;
    // Who has no parent any more is ended by the main thread at once, if that turns.
    if (orphaned && still > 2) process.kill(process.pid, "SIGKILL");
    if (orphaned) continue;
    if (seconds >= 1) report({ stuck: seconds });
    const resident = process.memoryUsage.rss() / MIB;
    if (resident >= near) report({ memory: Math.round(resident) });
    if (abortAfter !== undefined && seconds * 1000 >= abortAfter) abort(seconds, holder());
  }
}

/** @param {number} seconds @param {string} held */
function abort(seconds, held) {
  const [cluster = "", request = ""] = held.split("\n");
  const msg = `the management process made no progress for ${seconds} s and is aborted; a supervisor such as systemd starts it again`;
  const about = { level: 50, time: new Date().toISOString(), code: "APISERVER_STUCK", cluster, request, msg };
  writeSync(2, `${JSON.stringify(about)}\n`);
  process.kill(process.pid, "SIGABRT");
}

watch(/** @type {WatchdogData} */ (workerData));
