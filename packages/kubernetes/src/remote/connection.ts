import { CausewayError, messageOf, type Clock, type Log } from "@causeway/foundation";
import { createInformers } from "../cache/informers.ts";
import type { Informers } from "../cache/interface.ts";
import { createClient } from "../client/client.ts";
import type { KubernetesClient } from "../client/interface.ts";
import type { ClientOutcome } from "../client/transport.ts";
import type { ClusterConfig } from "../config/interface.ts";
import type { ObjectKey } from "../types/meta.ts";
import type { RemoteCluster } from "./interface.ts";

const PROBE_PATH = "/version";
const PROBE_EVERY = 10_000;
const PROBE_LIMIT = 5_000;
/** Probes that must fail in a row before the cluster counts as gone. */
const PROBES = 3;
/** After this long without a call or watch, the connection is not probed any more. */
const UNUSED = 60_000;

/** One connection to one workload cluster, from its first answer to its end. */
export class Connection implements RemoteCluster {
  readonly key: ObjectKey;
  readonly client: KubernetesClient;
  readonly informers: Informers;
  readonly signal: AbortSignal;
  readonly #server: KubernetesClient;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #end = new AbortController();
  #watches = 0;
  #usedAt: number;
  #answeredAt: number;

  constructor(key: ObjectKey, config: ClusterConfig, tools: { readonly clock: Clock; readonly log: Log }) {
    this.key = key;
    this.#clock = tools.clock;
    this.#log = tools.log;
    this.#usedAt = this.#answeredAt = tools.clock.now();
    this.#server = createClient(config, {
      clock: tools.clock,
      onOutcome: (outcome, path) => this.#hear(outcome, path),
      onWatch: (change) => (this.#watches += change),
    });
    this.informers = createInformers(this.#server, tools);
    this.client = this.informers.client;
    this.signal = this.#end.signal;
  }

  /** Rejects if the cluster does not answer, or not to us. */
  open(signal: AbortSignal): Promise<void> {
    return this.#probe(signal);
  }

  /** Runs the informers and watches over the cluster's health, until it is lost or `end` is called. */
  async serve(): Promise<void> {
    await Promise.all([this.informers.run(this.signal), this.#guard()]);
    await this.#server.close();
  }

  end(reason: string): void {
    const name = `${this.key.namespace}/${this.key.name}`;
    this.#end.abort(new CausewayError("KUBERNETES_DISCONNECTED", `the cluster ${name} is disconnected: ${reason}`));
  }

  async #guard(): Promise<void> {
    let failures = 0;
    while (!this.signal.aborted) {
      try {
        await this.#clock.sleep(PROBE_EVERY, this.signal);
        if (this.#needsProbe()) await this.#probe(this.signal);
        failures = 0;
      } catch (error) {
        failures++;
        if (failures >= PROBES) this.end(messageOf(error));
      }
    }
  }

  /** An open watch, or a call with a recent response, proves as much as a probe. */
  #needsProbe(): boolean {
    const now = this.#clock.now();
    const unused = this.#watches === 0 && now - this.#usedAt > UNUSED;
    return !unused && this.#watches === 0 && now - this.#answeredAt >= PROBE_EVERY;
  }

  async #probe(signal: AbortSignal): Promise<void> {
    const limit = new AbortController();
    const timer = new AbortController();
    this.#clock.sleep(PROBE_LIMIT, timer.signal).then(
      () => limit.abort(new CausewayError("KUBERNETES_UNREACHABLE", `${this.#server.server} does not answer`)),
      () => {},
    );
    try {
      await this.#server.request("GET", PROBE_PATH, { signal: AbortSignal.any([signal, limit.signal]) });
    } catch (error) {
      // A refusal is a response; only wrong credentials make the connection worthless.
      if (error instanceof CausewayError && error.code === "KUBERNETES_FORBIDDEN") return;
      throw error;
    } finally {
      timer.abort();
    }
  }

  #hear(outcome: ClientOutcome, path: string): void {
    const now = this.#clock.now();
    if (path !== PROBE_PATH) this.#usedAt = now;
    if (outcome === "responded") this.#answeredAt = now;
    if (outcome === "unauthorized") {
      this.#log.info("the workload cluster refuses our credentials");
      this.end("its server refuses our credentials");
    }
  }
}
