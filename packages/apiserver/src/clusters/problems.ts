import { readdirSync, readFileSync, statfsSync } from "node:fs";
import { CausewayError, type Log } from "@causeway/foundation";
import type { ServerProblem } from "../contract/server-problem.ts";
import type { Store } from "../store/index.ts";

/** Bytes below which a disk counts as full: less than the next writes and the log of the database need. */
const FULL = 1 << 20;
/** Descriptors that are kept for files: a server that accepts connections up to its limit could not open its own. */
const RESERVE = 16;
/** Below this no server of ours works; below the second it serves few clients. */
const TOO_FEW = 128;
const FEW = 1024;
/** Milliseconds for which what was found out is not found out again. */
const FRESH = 1000;
/** Milliseconds for which a write that the disk refused counts, if none was tried since. */
const REFUSED = 30_000;

/** What is checked for problems. */
export interface ProblemsOf {
  readonly dir: string | undefined;
  readonly store: () => Pick<Store, "failure"> | undefined;
  readonly now: () => number;
  /** Why worker processes do not serve their clusters now. */
  readonly workers?: () => readonly string[];
}

/** What keeps a server from working that its operator has to see to. */
export class Problems {
  readonly #of: ProblemsOf;
  #known: { readonly at: number; readonly found: readonly ServerProblem[] } | undefined;

  constructor(of: ProblemsOf) {
    this.#of = of;
  }

  get all(): readonly ServerProblem[] {
    const now = this.#of.now();
    if (!this.#known || Math.abs(now - this.#known.at) >= FRESH) {
      this.#known = { at: now, found: [this.#disk(now), descriptors()].filter((found) => found !== undefined) };
    }
    return [...this.#known.found, ...(this.#of.workers?.() ?? []).map(stuckWorker)];
  }

  #disk(now: number): ServerProblem | undefined {
    const { dir, store } = this.#of;
    if (dir === undefined) return undefined;
    const failure = store()?.failure;
    const free = freeBytes(dir);
    const isFull = free !== undefined && free < FULL;
    if (!isFull && (failure === undefined || now - failure.at > REFUSED)) return undefined;
    const why = isFull ? `it has ${Math.floor(free / 1024)} KiB left` : (failure?.reason ?? "");
    return {
      check: "disk",
      code: "APISERVER_DISK_FULL",
      message: `the disk of ${dir} takes no more writes: ${why}`,
      hint: "Free space on the disk of the state folder and check that it is writable; nothing is lost.",
    };
  }
}

function stuckWorker(message: string): ServerProblem {
  return {
    check: "workers",
    code: "APISERVER_WORKER_UNAVAILABLE",
    message,
    hint: "The log names the cluster and the request. The worker is terminated and restarted automatically.",
  };
}

function freeBytes(dir: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

function descriptors(): ServerProblem | undefined {
  const most = descriptorLimit();
  const open = openDescriptors();
  if (most === undefined || open === undefined || open < most - RESERVE) return undefined;
  return {
    check: "descriptors",
    code: "APISERVER_DESCRIPTORS_EXHAUSTED",
    message: `${open} of ${most} file descriptors are open: no more connections can be accepted`,
    hint: "Raise the limit (ulimit -n, or LimitNOFILE= of the systemd unit), and check which clients hold the connections.",
  };
}

/** Infinity when none can be opened to count them; undefined where the system does not say. */
function openDescriptors(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch (error) {
    return (error as { code?: unknown }).code === "EMFILE" ? Infinity : undefined;
  }
}

let limit: number | undefined;

/** The limit does not change while a process runs, but by prlimit(2). */
function descriptorLimit(): number | undefined {
  try {
    limit ??= Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]);
    return Number.isFinite(limit) ? limit : undefined;
  } catch {
    return undefined;
  }
}

/** Throws APISERVER_DESCRIPTORS_TOO_FEW; warns of a limit that is low. */
export function checkDescriptors(log: Log, most = descriptorLimit()): void {
  if (most === undefined || most >= FEW) return;
  const hint = `Raise it to ${FEW} or more: ulimit -n, or LimitNOFILE= of the systemd unit.`;
  const message = `the limit of open file descriptors is ${most}`;
  if (most < TOO_FEW) throw new CausewayError("APISERVER_DESCRIPTORS_TOO_FEW", message, { hint });
  log.warn(`${message}, which bounds the number of clients`, { hint });
}
