import { messageOf, type Clock, type Log } from "@causeway/foundation";
import { runRounds, timeLimit } from "../rounds.ts";
import type { TunnelAccess } from "../runtime.ts";
import type { TunnelFacts } from "./facts.ts";
import { readTunnel, type TunnelReport } from "./read.ts";

/** One control plane whose tunnel is checked. */
export interface WatchedTunnel {
  readonly id: string;
  /** "later": it does not serve now. Undefined: it has no tunnel. */
  readonly access: (signal: AbortSignal) => Promise<TunnelAccess | "later" | undefined>;
}

/** Which tunnels are checked, and who is informed. */
export interface TunnelWatchdogOptions {
  /** Those of the control planes that this process works on. */
  readonly tunnels: () => readonly WatchedTunnel[];
  /** Agents came, or all of them are gone, or the server is. */
  readonly changed: (id: string) => void;
  /** Default: a request to the tunnel server. */
  readonly read?: (access: TunnelAccess, signal: AbortSignal) => Promise<TunnelReport | undefined>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Checks tunnels, and remembers what it found. */
export interface TunnelWatchdog {
  /** Undefined: it was not checked yet. */
  facts(id: string): TunnelFacts | undefined;
  run(signal: AbortSignal): Promise<void>;
}

/** Milliseconds between two checks of one tunnel: where an agent or the server is missed, and otherwise. */
const EVERY_ABSENT = 15_000;
const EVERY = 60_000;
/** Milliseconds for one response. */
const LIMIT = 5_000;
/** Requests at a time. */
const AT_ONCE = 32;

interface Known {
  due: number;
  facts: TunnelFacts | undefined;
  /** An agent was connected at one of the checks. */
  hadAgents: boolean;
}

/** Checks from time to time whether an agent of each control plane's tunnel is connected. */
export function createTunnelWatchdog(options: TunnelWatchdogOptions): TunnelWatchdog {
  const { tunnels, changed, read = readTunnel, clock, log } = options;
  const known = new Map<string, Known>();
  /** URLs of servers that responded to this process. */
  const reached = new Set<string>();
  const check = async ({ id, access }: WatchedTunnel, entry: Known, signal: AbortSignal): Promise<void> => {
    const before = entry.facts;
    const now = clock.now();
    const seenSince = (type: "absent" | "unreachable"): number => (before?.type === type ? before.seenSince : now);
    const timer = new AbortController();
    const limit = { milliseconds: LIMIT, message: `no response within ${LIMIT / 1000} s` };
    const over = timeLimit(clock, limit, timer.signal);
    const within = AbortSignal.any([signal, over]);
    let url: string | undefined;
    try {
      const found = await access(within);
      entry.due = now + EVERY_ABSENT;
      if (found === "later") return;
      url = found && "url" in found ? found.url : undefined;
      const report = found && (await read(found, within));
      if (report && url !== undefined) reached.add(url);
      entry.hadAgents ||= (report?.agents ?? 0) > 0;
      entry.facts = factsOf(report, { seenSince: seenSince("absent"), hadAgents: entry.hadAgents });
    } catch (error) {
      if (signal.aborted) return;
      const code = over.aborted ? "ETIMEDOUT" : codeOf(error);
      // A socket is of this machine, as the API servers are: they reach it no better.
      const facts = { type: "unreachable", code, reached: url === undefined || reached.has(url) } as const;
      entry.facts = { ...facts, seenSince: seenSince("unreachable"), hadAgents: entry.hadAgents };
      // The text may name addresses and has parts of the response, so that it is the operator's alone.
      if (before?.type !== "unreachable" || before.code !== code)
        log.info("a tunnel server does not respond", { id, code, reached: facts.reached, error: messageOf(error) });
    } finally {
      timer.abort(new Error("done"));
    }
    entry.due = now + (isFault(entry.facts) ? EVERY_ABSENT : EVERY);
    if (isChange(before, entry.facts)) changed(id);
  };
  const entryOf = (_: WatchedTunnel, entry: Known = { due: 0, facts: undefined, hadAgents: false }): Known => entry;
  return {
    facts: (id) => known.get(id)?.facts,
    run: (signal) => runRounds({ items: tunnels, known, entryOf, check, atOnce: AT_ONCE, clock }, signal),
  };
}

function factsOf(
  report: TunnelReport | undefined,
  absence: { readonly seenSince: number; readonly hadAgents: boolean },
): TunnelFacts {
  if (report === undefined) return { type: "none" };
  return report.agents > 0 ? { type: "connected" } : { type: "absent", since: report.since, ...absence };
}

/** A server that this process never reached may be out of its reach alone. */
function isFault(facts: TunnelFacts): boolean {
  return facts.type === "absent" || (facts.type === "unreachable" && facts.reached);
}

function isChange(before: TunnelFacts | undefined, after: TunnelFacts): boolean {
  return before === undefined || after.type !== before.type || isFault(after) !== isFault(before);
}

function codeOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) ? code : "UNKNOWN";
}
