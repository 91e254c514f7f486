import { messageOf, type Clock, type Log } from "@causeway/foundation";
import { readMetrics, samplesOf } from "../api-metrics.ts";
import { runRounds, timeLimit } from "../rounds.ts";
import type { ApiAccess } from "../webhooks/watchdog.ts";
import type { AuditFacts } from "./facts.ts";

/** One control plane of Kubernetes' own API servers whose audit sink is the tenant's. */
export interface WatchedSink {
  readonly id: string;
  readonly url: string;
  /** Undefined: it does not serve now. */
  readonly access: (signal: AbortSignal) => Promise<ApiAccess | undefined>;
}

/** Which control planes are checked, and who is informed. */
export interface AuditWatchdogOptions {
  /** Those that this process works on. */
  readonly watched: () => readonly WatchedSink[];
  readonly changed: (id: string) => void;
  /** The metrics of each API server. Default: by HTTP. */
  readonly read?: (access: ApiAccess, signal: AbortSignal) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Checks whether audit sinks receive events, and remembers what it found. */
export interface AuditWatchdog {
  /** Undefined: nothing is known yet. */
  facts(id: string): AuditFacts | undefined;
  run(signal: AbortSignal): Promise<void>;
}

const METRICS = "apiserver_audit_";
/** Milliseconds between two checks of one control plane. */
const EVERY = 60_000;
/**
 * Milliseconds in which kube-apiserver gives a batch up, five attempts of half a minute and the pauses between them.
 */
const GIVEN_UP = 4 * 60_000;
/** Milliseconds for one control plane. */
const LIMIT = 8_000;
/** Checks at a time. */
const AT_ONCE = 8;

/** Of all API servers of one control plane, since each began. */
export interface AuditCounts {
  /** Events that there were. */
  readonly events: number;
  /** Events that the webhook lost: after its attempts, or since too many wait. */
  readonly lost: number;
}

interface Known {
  due: number;
  readonly url: string;
  counts: AuditCounts | undefined;
  /** Of the first event since the last loss (ms since epoch), as far as it was seen. */
  sentSince: number | undefined;
  facts: AuditFacts | undefined;
}

/** What the metrics of API servers say of audit events. */
export function countsIn(metrics: readonly string[]): AuditCounts {
  const sum = (name: string, isOf: (plugin: string) => boolean): number =>
    metrics
      .flatMap((text) => samplesOf(text, `${METRICS}${name}`))
      .filter(({ labels }) => isOf(labels["plugin"] ?? ""))
      .reduce((total, { value }) => total + value, 0);
  return {
    events: sum("event_total", () => true),
    // Those of the log are the operator's.
    lost: sum("error_total", (plugin) => plugin === "webhook" || plugin === "buffered"),
  };
}

/** Checks each minute whether more events were lost. */
export function createAuditWatchdog(options: AuditWatchdogOptions): AuditWatchdog {
  const { watched, changed, read = readAuditMetrics, clock, log } = options;
  const known = new Map<string, Known>();
  const judge = (entry: Known, counts: AuditCounts): void => {
    const { counts: before, url } = entry;
    entry.counts = counts;
    // An API server that began again, or did not respond, has fewer: the next check compares.
    if (before === undefined || counts.events < before.events || counts.lost < before.lost) return;
    if (counts.lost > before.lost) {
      entry.sentSince = undefined;
      entry.facts = { type: "failing", url };
      return;
    }
    if (counts.events > before.events) entry.sentSince ??= clock.now();
    if (entry.sentSince !== undefined && clock.now() - entry.sentSince >= GIVEN_UP)
      entry.facts = { type: "delivered", url };
  };
  const check = async ({ id, access }: WatchedSink, entry: Known, signal: AbortSignal): Promise<void> => {
    const timer = new AbortController();
    const over = timeLimit(clock, { milliseconds: LIMIT, message: "no response in time" }, timer.signal);
    const within = AbortSignal.any([signal, over]);
    const before = entry.facts;
    entry.due = clock.now() + EVERY;
    try {
      const found = await access(within);
      if (found !== undefined) judge(entry, countsIn(await read(found, within)));
    } catch (error) {
      // What was found remains: API servers restart, and say more later.
      if (!signal.aborted)
        log.debug("audit events of a control plane could not be counted", { id, error: messageOf(error) });
    } finally {
      timer.abort(new Error("done"));
    }
    const { facts } = entry;
    if (facts?.type === before?.type && facts?.url === before?.url) return;
    if (facts?.type === "failing") log.warn("an audit sink of a tenant loses events", { id });
    changed(id);
  };
  const entryOf = ({ url }: WatchedSink, found: Known | undefined): Known =>
    found?.url === url ? found : { due: 0, url, counts: undefined, sentSince: undefined, facts: found?.facts };
  return {
    facts: (id) => known.get(id)?.facts,
    run: (signal) => runRounds({ items: watched, known, entryOf, check, atOnce: AT_ONCE, clock }, signal),
  };
}

const readAuditMetrics = (access: ApiAccess, signal: AbortSignal): Promise<string[]> =>
  readMetrics(access, METRICS, signal);
