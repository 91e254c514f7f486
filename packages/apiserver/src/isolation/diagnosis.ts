import type { Report } from "./messages.ts";
import type { Exit } from "./worker-process.ts";

/** Why a worker process ended, and who was at fault as far as that is known. */
export interface Diagnosis {
  readonly code: "APISERVER_WORKER_STUCK" | "APISERVER_WORKER_OUT_OF_MEMORY" | "APISERVER_WORKER_CRASHED";
  readonly reason: string;
  readonly cluster: string | undefined;
  readonly request: string | undefined;
}

/** A report of memory says who held the thread at one moment: it counts as long as it is one of the last. */
const KEPT = 20;
/** Milliseconds for which a report says something about the end of the process. */
const FRESH = 10_000;

interface Noted {
  readonly at: number;
  readonly report: Report;
}

/** Collects what the watchdog of one worker process reports, and says at the process' end why it ended. */
export class Diagnostician {
  #reports: Noted[] = [];
  #ended: Pick<Diagnosis, "code" | "reason"> | undefined;

  note(report: Report, now: number): void {
    this.#reports = [...this.#reports.slice(1 - KEPT), { at: now, report }];
  }

  /** The supervisor ends the process for this reason. */
  end(code: Diagnosis["code"], reason: string): void {
    this.#ended ??= { code, reason };
  }

  diagnose(exit: Exit, now: number): Diagnosis {
    const reports = this.#reports.filter(({ at }) => now - at < FRESH).map(({ report }) => report);
    return { ...(this.#ended ?? causeOf(exit, reports)), ...culprit(reports) };
  }
}

function causeOf({ code, signal, lastWords }: Exit, reports: readonly Report[]): Pick<Diagnosis, "code" | "reason"> {
  if (/heap out of memory|Array buffer allocation failed|FATAL ERROR: .*memory/i.test(lastWords)) {
    return { code: "APISERVER_WORKER_OUT_OF_MEMORY", reason: "it used all of its JavaScript heap" };
  }
  const crash = reports.findLast((report) => report.crash !== undefined)?.crash;
  if (crash !== undefined) return { code: "APISERVER_WORKER_CRASHED", reason: crash };
  const how = signal === null ? `exit code ${code ?? "unknown"}` : `signal ${signal}`;
  const line = lastWords.trim().split("\n").at(-1) ?? "";
  return { code: "APISERVER_WORKER_CRASHED", reason: line === "" ? how : `${how}: ${line.slice(0, 300)}` };
}

/** Who held the thread in most of the reports, of the last of those requests. */
function culprit(reports: readonly Report[]): Pick<Diagnosis, "cluster" | "request"> {
  const held = reports.map(({ holder }) => holder.split("\n")).filter(([cluster]) => cluster !== "");
  const counts = new Map<string, number>();
  for (const [cluster = ""] of held) counts.set(cluster, (counts.get(cluster) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  const [, request] = held.findLast(([cluster = ""]) => counts.get(cluster) === most) ?? [];
  const cluster = held.findLast(([name = ""]) => counts.get(name) === most)?.[0];
  return { cluster, request };
}
