import { messageOf, type Clock, type Log } from "@causeway/foundation";
import { readMetrics, samplesOf } from "../api-metrics.ts";
import { runRounds, timeLimit } from "../rounds.ts";
import type { ApiAccess } from "../webhooks/watchdog.ts";
import type { AuditFacts } from "./facts.ts";

/** One control plane whose audit sink is the tenant's. */
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
/** When a process began, by which it is known: one is read twice where the Service's address leads to it, too. */
const BEGAN = "process_start_time_seconds";
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
/** Processes that are remembered of one control plane: those of now, and some that did not respond. */
const REMEMBERED = 16;

/** Of one API server, since it began. */
export interface AuditCounts {
  /** Events that there were. */
  readonly events: number;
  /** Events that the webhook lost: after its attempts, or since too many wait. */
  readonly lost: number;
}

interface Known {
  due: number;
  /** Checks in a row that failed. */
  failures: number;
  readonly url: string;
  /** By process. */
  readonly counts: Map<number, AuditCounts>;
  /** Of the first event since the last loss (ms since epoch), as far as it was seen. */
  sentSince: number | undefined;
  facts: AuditFacts | undefined;
}

/** What the metrics of API servers say of audit events, by process. */
export function countsIn(metrics: readonly string[]): ReadonlyMap<number, AuditCounts> {
  const all = new Map<number, AuditCounts>();
  for (const text of metrics) {
    const sum = (name: string, isOf: (plugin: string) => boolean): number =>
      samplesOf(text, name)
        .filter(({ labels }) => isOf(labels["plugin"] ?? ""))
        .reduce((total, { value }) => total + value, 0);
    const [began] = samplesOf(text, BEGAN);
    const process = began?.value ?? 0;
    const seen = all.get(process) ?? { events: 0, lost: 0 };
    // Those of the log are the operator's.
    const lost = sum(`${METRICS}error_total`, (plugin) => plugin === "webhook" || plugin === "buffered");
    const events = sum(`${METRICS}event_total`, () => true);
    all.set(process, { events: Math.max(seen.events, events), lost: Math.max(seen.lost, lost) });
  }
  return all;
}

/** How much more there is than was remembered; a process that was not seen before has no part in it. */
function increase(known: ReadonlyMap<number, AuditCounts>, counts: ReadonlyMap<number, AuditCounts>): AuditCounts {
  const sum = { events: 0, lost: 0 };
  for (const [process, { events, lost }] of counts) {
    const before = known.get(process);
    if (before === undefined) continue;
    sum.events += events - before.events;
    sum.lost += lost - before.lost;
  }
  return sum;
}

function remember(known: Map<number, AuditCounts>, counts: ReadonlyMap<number, AuditCounts>): void {
  for (const [process, each] of counts) {
    known.delete(process);
    known.set(process, each);
  }
  for (const process of [...known.keys()].slice(0, -REMEMBERED)) known.delete(process);
}

/** Checks each minute whether more events were lost. */
export function createAuditWatchdog(options: AuditWatchdogOptions): AuditWatchdog {
  const { watched, changed, read = readAuditMetrics, clock, log } = options;
  const known = new Map<string, Known>();
  const judge = (entry: Known, counts: ReadonlyMap<number, AuditCounts>): void => {
    const { events, lost } = increase(entry.counts, counts);
    remember(entry.counts, counts);
    if (lost > 0) {
      entry.sentSince = undefined;
      entry.facts = { type: "failing", url: entry.url };
      return;
    }
    if (events > 0) entry.sentSince ??= clock.now();
    if (entry.sentSince !== undefined && clock.now() - entry.sentSince >= GIVEN_UP)
      entry.facts = { type: "delivered", url: entry.url };
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
      entry.failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      const fields = { id, error: messageOf(error) };
      // What was found remains: an API that restarts fails one check, and says more later.
      if ((entry.failures += 1) === 1) log.debug("audit events of a control plane could not be counted", fields);
      else log.warn("audit events of a control plane could not be counted, again", fields);
    } finally {
      timer.abort(new Error("done"));
    }
    const { facts } = entry;
    if (facts?.type === before?.type && facts?.url === before?.url) return;
    if (facts?.type === "failing") log.warn("an audit sink of a tenant loses events", { id });
    changed(id);
  };
  const entryOf = ({ url }: WatchedSink, found: Known | undefined): Known =>
    found?.url === url
      ? found
      : { due: 0, failures: 0, url, counts: new Map(), sentSince: undefined, facts: found?.facts };
  return {
    facts: (id) => known.get(id)?.facts,
    run: (signal) => runRounds({ items: watched, known, entryOf, check, atOnce: AT_ONCE, clock }, signal),
  };
}

const readAuditMetrics = (access: ApiAccess, signal: AbortSignal): Promise<string[]> =>
  readMetrics(access, [METRICS, BEGAN], signal);
