import { createHash } from "node:crypto";
import { canonicalJson, messageOf, type Clock, type Log } from "@causeway/foundation";
import { createClient, loadKubeconfig, type ClusterConfig, type KubernetesClient } from "@causeway/kubernetes";
import { timeLimit } from "../rounds.ts";
import { checkWebhooks } from "./check.ts";
import { isSameFinding, type Finding } from "./findings.ts";

/** One control plane that is to be checked. */
export interface WatchedApi {
  readonly id: string;
  readonly mayExempt: boolean;
  /** Undefined: it does not serve now. */
  readonly access: (signal: AbortSignal) => Promise<ApiAccess | undefined>;
}

/** How the API of a control plane is reached. */
export interface ApiAccess {
  /** Of an administrator. */
  readonly kubeconfig: string;
  /** URLs at which this process reaches it, in place of the kubeconfig's. */
  readonly inside?: readonly string[] | undefined;
  /** A client with this kubeconfig that is connected already. Undefined: there is none. */
  readonly connected?: KubernetesClient | undefined;
}

/** Which control planes are checked, and who is informed. */
export interface WebhookWatchdogOptions {
  /** Those that this process works on. */
  readonly apis: () => readonly WatchedApi[];
  /** What was found changed. */
  readonly changed: (id: string) => void;
  /** A webhook was exempted from requests of the system. */
  readonly exempted: (id: string, webhook: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Checks webhooks of control planes, and remembers what it found. */
export interface WebhookWatchdog {
  /** Undefined: it was not checked yet. */
  findings(id: string): readonly Finding[] | undefined;
  run(signal: AbortSignal): Promise<void>;
}

/** Milliseconds between two checks of one control plane. */
const EVERY = 60_000;
/** Milliseconds between two while something is broken. */
const EVERY_BROKEN = 15_000;
/** Milliseconds between two checks of what is due: while a check waits for its place, and else at most. */
const SOONEST = 1_000;
const LATEST = 10_000;
/**
 * Milliseconds that the requests of one check may take, and the check with what follows from them: webhooks of a tenant
 * answer as slowly as they may, 30 seconds each.
 */
const TRIES = 40_000;
const LIMIT = 60_000;
/** Checks at a time. One that waits for a slow webhook keeps its place for LIMIT at most. */
const AT_ONCE = 16;

interface Known {
  due: number;
  isRunning: boolean;
  /** Checks that failed in a row. */
  failures: number;
  findings: readonly Finding[] | undefined;
  /** The kubeconfig of the last check, which takes milliseconds to parse. */
  parsed: { readonly kubeconfig: string; readonly config: ClusterConfig } | undefined;
}

/** Checks each control plane from time to time, with whatever runtime it has. */
export function createWebhookWatchdog(options: WebhookWatchdogOptions): WebhookWatchdog {
  const { apis, changed, exempted: informed, clock, log } = options;
  const known = new Map<string, Known>();
  const running = new Set<Promise<void>>();
  const check = async (api: WatchedApi, entry: Known, signal: AbortSignal): Promise<void> => {
    const timer = new AbortController();
    const limited = (milliseconds: number, message: string): AbortSignal =>
      timeLimit(clock, { milliseconds, message }, timer.signal);
    const over = limited(LIMIT, "the check took too long");
    const tries = limited(TRIES, "the requests of the check took too long");
    let client: KubernetesClient | undefined;
    try {
      const within = AbortSignal.any([signal, over]);
      const access = await api.access(within);
      entry.due = clock.now() + (access === undefined ? EVERY_BROKEN : EVERY);
      if (access === undefined) return;
      if (entry.parsed?.kubeconfig !== access.kubeconfig) entry.parsed = parsedOf(access);
      // Of its own, since requests that webhooks of the tenant hold up would hold up what else uses the connected one.
      client = clientOf(entry.parsed.config, access);
      const options = { client, reads: access.connected, mayExempt: api.mayExempt, now: clock.now(), tries };
      const { found, exempted } = await checkWebhooks(options, within);
      for (const webhook of exempted) informed(api.id, webhook);
      entry.failures = 0;
      const before = entry.findings;
      entry.findings = found.map((each) => earlier(before, each));
      entry.due = clock.now() + (found.length > 0 ? EVERY_BROKEN : EVERY);
      if (canonicalJson(before ?? null) !== canonicalJson(entry.findings)) changed(api.id);
    } catch (error) {
      entry.due = clock.now() + EVERY;
      const fields = { id: api.id, error: messageOf(error) };
      if (signal.aborted) return;
      // An API that restarts fails one check.
      if ((entry.failures += 1) === 1) log.debug("webhooks of a control plane could not be checked", fields);
      else log.warn("webhooks of a control plane could not be checked, again", fields);
    } finally {
      timer.abort(new Error("done"));
      entry.isRunning = false;
      await client?.close().catch(() => {});
    }
  };
  /** Starts what is due; when to check again. */
  const round = (signal: AbortSignal): number => {
    const now = clock.now();
    let next = now + LATEST;
    // The one that has waited longest is the next: slow checks of one tenant do not keep others from their turn.
    const dueOf = ({ id }: WatchedApi): number => known.get(id)?.due ?? now;
    const all = apis().toSorted((a, b) => dueOf(a) - dueOf(b));
    const ids = new Set(all.map(({ id }) => id));
    for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    for (const api of all) {
      const entry = known.get(api.id) ?? {
        due: now + spread(api.id),
        isRunning: false,
        failures: 0,
        findings: undefined,
        parsed: undefined,
      };
      known.set(api.id, entry);
      if (entry.isRunning) continue;
      if (entry.due > now || running.size >= AT_ONCE) {
        next = Math.min(next, entry.due);
        continue;
      }
      entry.isRunning = true;
      const done = check(api, entry, signal).finally(() => running.delete(done));
      running.add(done);
    }
    return Math.max(next, now + SOONEST);
  };
  return {
    findings: (id) => known.get(id)?.findings,
    async run(signal) {
      while (!signal.aborted) {
        const next = round(signal);
        await clock.sleep(next - clock.now(), signal).catch(() => {});
      }
      await Promise.all(running);
    },
  };
}

/** The words of the first time remain, so that the status does not change with each port number in them. */
function earlier(before: readonly Finding[] | undefined, finding: Finding): Finding {
  return before?.find((each) => isSameFinding(each, finding)) ?? finding;
}

/** Those of a new process are not all checked at once. */
function spread(id: string): number {
  return createHash("sha256").update(id).digest().readUInt16BE() % (EVERY / 6);
}

function parsedOf({ kubeconfig }: ApiAccess): NonNullable<Known["parsed"]> {
  return { kubeconfig, config: loadKubeconfig({ text: kubeconfig, selfContained: true }) };
}

function clientOf(config: ClusterConfig, { inside }: ApiAccess): KubernetesClient {
  const [server] = inside ?? [];
  return createClient(server === undefined ? config : { ...config, server, tlsServerName: "kubernetes" });
}
