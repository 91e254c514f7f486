import type { Duplex } from "node:stream";
import { messageOf, type Clock } from "@causeway/foundation";
import type { ObjectKey } from "@causeway/kubernetes";
import { askDns } from "./dns.ts";

/** One proof that an add-on works. */
export interface Probe {
  readonly type: "DNS" | "Dial";
  readonly host: string;
  readonly port: number;
  readonly question?: string;
}

/** Connects to an address inside a workload cluster. */
export interface Dial {
  (cluster: ObjectKey, to: { readonly host: string; readonly port: number }, signal: AbortSignal): Promise<Duplex>;
  /** Whether a tunnel leads into the cluster. Undefined: one leads into each. */
  reaches?(cluster: ObjectKey): boolean;
}

/** The last result of a probe. */
export interface ProbeResult {
  /** Undefined: it succeeded. */
  readonly problem: string | undefined;
  /** Milliseconds since the epoch: when it is made again. */
  readonly due: number;
}

const TIMEOUT = 2_000;
/** Milliseconds between probes that succeed, and between those that fail. */
const EVERY = 30_000;
const RETRY = 2_000;

/** Makes probes when they are due, and remembers their results. */
export class Prober {
  readonly #clock: Clock;
  readonly #dial: Dial | undefined;
  readonly #results = new Map<string, ProbeResult>();

  constructor(clock: Clock, dial: Dial | undefined) {
    this.#clock = clock;
    this.#dial = dial;
  }

  canDial(cluster: ObjectKey): boolean {
    return this.#dial !== undefined && this.#dial.reaches?.(cluster) !== false;
  }

  async result(cluster: ObjectKey, probe: Probe, signal: AbortSignal): Promise<ProbeResult> {
    const { type, host, port, question = "" } = probe;
    const id = [cluster.namespace, cluster.name, type, host, port, question].join(" ");
    const known = this.#results.get(id);
    if (known && this.#clock.now() < known.due) return known;
    const problem = await this.#problem(cluster, probe, signal);
    const due = this.#clock.now() + (problem === undefined ? EVERY : RETRY);
    const result = { problem, due };
    this.#results.set(id, result);
    return result;
  }

  forget({ namespace, name }: ObjectKey): void {
    for (const id of this.#results.keys()) if (id.startsWith(`${namespace} ${name} `)) this.#results.delete(id);
  }

  async #problem(cluster: ObjectKey, probe: Probe, signal: AbortSignal): Promise<string | undefined> {
    const { type, host, port, question } = probe;
    const what = `${type} probe of ${host}:${port}`;
    if (!this.#dial) return `${what} cannot be made: no tunnel leads into the cluster (causeway up --tunnel-sockets)`;
    const late = new AbortController();
    const over = new AbortController();
    const timer = this.#clock.sleep(TIMEOUT, over.signal).then(
      () => late.abort(new Error(`no answer within ${TIMEOUT / 1000} s`)),
      () => {},
    );
    try {
      await this.#make(cluster, probe, AbortSignal.any([signal, late.signal]));
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      const asked = question === undefined ? "" : ` for ${question}`;
      return `${what}${asked} failed: ${messageOf(late.signal.aborted ? late.signal.reason : error).slice(0, 500)}`;
    } finally {
      over.abort();
      await timer;
    }
  }

  async #make(cluster: ObjectKey, probe: Probe, signal: AbortSignal): Promise<void> {
    const connection = await this.#dial?.(cluster, { host: probe.host, port: probe.port }, signal);
    if (!connection) return;
    const end = (): void => void connection.destroy();
    signal.addEventListener("abort", end, { once: true });
    connection.on("error", () => {});
    try {
      if (probe.type === "DNS") await askDns(connection, probe.question ?? "kubernetes.default.svc.cluster.local");
    } finally {
      signal.removeEventListener("abort", end);
      connection.destroy();
    }
  }
}
