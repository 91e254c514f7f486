import { messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import type { AuditTrail } from "../audit-event.ts";
import { notificationOf } from "./cadf.ts";

/** Where notifications go. */
export interface AuditTarget {
  /** Writes these lines of JSON; those of a call that throws are written again. */
  write(lines: readonly string[], signal: AbortSignal): Promise<void>;
}

/** Where audit events go, what counts them, and how many wait while the target does not accept them. */
export interface AuditOptions {
  readonly target: AuditTarget;
  readonly host: string;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  /** Characters that wait at most; what comes when that many wait is dropped and counted. Default 16 Mi. */
  readonly most?: number;
}

const MOST = 16 * 1024 * 1024;
const BATCH = 100;
const [SOONEST, LATEST] = [1_000, 30_000];
/** Milliseconds for the last attempt. */
const FAREWELL = 5_000;

/**
 * A trail that keeps events in memory until `run` has written them: in batches of 100, with a back-off of up to 30
 * seconds
 * when the target fails. Metric: causeway_magnum_api_audit_events_total.
 */
export function createAuditTrail(options: AuditOptions): AuditTrail {
  const { target, host, clock, log, most = MOST } = options;
  const counter = options.metrics.counter({
    name: "causeway_magnum_api_audit_events_total",
    help: "Audit events of the Magnum API by what became of them.",
    labels: ["outcome"],
  });
  const waiting: string[] = [];
  let size = 0;
  let wake = (): void => {};
  const writeBatch = async (signal: AbortSignal): Promise<void> => {
    const lines = waiting.slice(0, BATCH);
    await target.write(lines, signal);
    waiting.splice(0, lines.length);
    size -= lines.reduce((sum, line) => sum + line.length, 0);
    counter.increment({ outcome: "written" }, lines.length);
  };
  const untilRecorded = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      wake = () => {
        signal.removeEventListener("abort", wake);
        resolve();
      };
      signal.addEventListener("abort", wake, { once: true });
      if (waiting.length > 0 || signal.aborted) wake();
    });
  return {
    record(audited) {
      const line = JSON.stringify(notificationOf(audited, clock.now(), host));
      if (size + line.length > most) {
        counter.increment({ outcome: "dropped" });
        return;
      }
      waiting.push(line);
      size += line.length;
      wake();
    },
    async run(signal) {
      let pause = SOONEST;
      while (!signal.aborted) {
        await untilRecorded(signal);
        if (signal.aborted) break;
        try {
          await writeBatch(signal);
          pause = SOONEST;
        } catch (error) {
          if (signal.aborted) break;
          log.warn("audit events cannot be written; they are kept and written again", {
            waiting: waiting.length,
            error: messageOf(error),
          });
          await clock.sleep(pause, signal).catch(() => {});
          pause = Math.min(LATEST, pause * 2);
        }
      }
      const last = AbortSignal.timeout(FAREWELL);
      try {
        while (waiting.length > 0) await writeBatch(last);
      } catch (error) {
        log.warn("audit events are lost", { waiting: waiting.length, error: messageOf(error) });
      }
    },
  };
}
