import { canonicalJson, messageOf, type Clock, type Log } from "@causeway/foundation";
import { readMetrics } from "../api-metrics.ts";
import { runRounds, timeLimit } from "../rounds.ts";
import type { TokenIssuers } from "../runtime.ts";
import type { ApiAccess } from "../webhooks/watchdog.ts";
import type { IssuerFacts } from "./facts.ts";
import { beliefIn, ISSUER_METRICS, namedIn } from "./read.ts";

/** One control plane of Kubernetes' own API servers whose issuers are checked. */
export interface WatchedIssuers {
  readonly id: string;
  readonly jwt: TokenIssuers;
  /** Undefined: it does not serve now, or its API servers refuse what they do not accept at once. */
  readonly access: (signal: AbortSignal) => Promise<ApiAccess | undefined>;
  /** What its API servers wrote in the last minutes; undefined: it cannot be read. */
  readonly output: (signal: AbortSignal) => Promise<string | undefined>;
}

/** Which control planes are checked, and who is informed. */
export interface IssuerWatchdogOptions {
  /** Those that this process works on and that have the field. */
  readonly watched: () => readonly WatchedIssuers[];
  readonly changed: (id: string) => void;
  /** The metrics of each API server. Default: by HTTP. */
  readonly read?: (access: ApiAccess, signal: AbortSignal) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Checks whether API servers accept issuers, and remembers what it found. */
export interface IssuerWatchdog {
  /** Undefined: it was not checked yet. */
  facts(id: string): IssuerFacts | undefined;
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Milliseconds between two checks. Metrics have a MiB: once a change is old and accepted, they are read rarely, since
 * only another change can be refused.
 */
const EVERY = 60_000;
const EVERY_SETTLED = 15 * 60_000;
/** A change is old after this: a kubelet needs two minutes to write it, and kube-apiserver two to refuse it. */
const SETTLED = 10 * 60_000;
/** After a list that was refused, or that this process did not see: until then it may still be the one in the file. */
const WRITTEN = 2 * 60_000;
/** Milliseconds for one control plane. */
const LIMIT = 15_000;
/** Milliseconds for the metrics of one API server: what responded by then counts. */
const READ_LIMIT = 8_000;
/** Checks at a time. */
const AT_ONCE = 8;

interface Known {
  due: number;
  /** The issuers, and when this process first saw them. */
  readonly jwt: string;
  readonly since: number;
  /** Failures from then on are of these issuers, and not of those before. */
  readonly failsFrom: number;
  facts: IssuerFacts | undefined;
  /** Checks in a row that failed. */
  failures: number;
}

/** Failed checks in a row that are reported: API servers that restart fail once. */
const REPORTED = 3;

const readIssuerMetrics = (access: ApiAccess, signal: AbortSignal): Promise<string[]> =>
  readMetrics(access, [ISSUER_METRICS], signal);

/** Checks from time to time whether API servers accepted the issuers that are requested. */
export function createIssuerWatchdog(options: IssuerWatchdogOptions): IssuerWatchdog {
  const { watched, changed, read = readIssuerMetrics, clock, log } = options;
  const known = new Map<string, Known>();
  const check = async (of: WatchedIssuers, entry: Known, signal: AbortSignal): Promise<void> => {
    const { id, jwt } = of;
    const timer = new AbortController();
    const limited = (milliseconds: number): AbortSignal =>
      timeLimit(clock, { milliseconds, message: `no response within ${milliseconds / 1000} s` }, timer.signal);
    const [over, reading] = [limited(LIMIT), limited(READ_LIMIT)];
    const within = AbortSignal.any([signal, over]);
    const before = entry.facts;
    entry.due = clock.now() + EVERY;
    try {
      const access = await of.access(within);
      if (access === undefined) return;
      const beliefs = (await read(access, AbortSignal.any([within, reading]))).map((metrics) =>
        beliefIn(metrics, jwt, { now: clock.now(), since: entry.failsFrom }),
      );
      entry.failures = 0;
      const isRefused = beliefs.includes("refused");
      if (isRefused) {
        const output = await of.output(within).catch((error: unknown) => {
          log.info("the output of API servers cannot be read", { id, error: messageOf(error) });
          return undefined;
        });
        entry.facts = { type: "refused", jwt, named: namedIn(output ?? "", jwt) };
        if (before?.type !== "refused") log.warn("API servers do not accept issuers of tokens", { id });
      } else {
        const isAccepted = beliefs.every((belief) => belief === "accepted");
        entry.facts = { type: isAccepted ? "accepted" : "pending", jwt };
        if (isAccepted && clock.now() - entry.since >= SETTLED) entry.due = clock.now() + EVERY_SETTLED;
      }
    } catch (error) {
      // What was found remains: API servers restart, and say more later.
      if (!signal.aborted) {
        entry.failures += 1;
        const report = entry.failures === REPORTED ? "warn" : "debug";
        log[report]("issuers of a control plane could not be checked", { id, error: messageOf(error) });
      }
    } finally {
      timer.abort(new Error("done"));
    }
    if (canonicalJson(before ?? null) !== canonicalJson(entry.facts ?? null)) changed(id);
  };
  const entryOf = ({ jwt }: WatchedIssuers, found: Known | undefined): Known => {
    const text = canonicalJson(jwt);
    if (found?.jwt === text) return found;
    const since = clock.now();
    const failsFrom = found?.facts?.type === "accepted" ? since : since + WRITTEN;
    return { due: 0, jwt: text, since, failsFrom, facts: found?.facts, failures: 0 };
  };
  return {
    facts: (id) => known.get(id)?.facts,
    run: (signal) => runRounds({ items: watched, known, entryOf, check, atOnce: AT_ONCE, clock }, signal),
  };
}
