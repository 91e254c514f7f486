import {
  CausewayError,
  messageOf,
  silentLog,
  systemClock,
  unlessAborted,
  type Clock,
  type Log,
} from "@causeway/foundation";
import type { KubernetesClient } from "../client/interface.ts";
import { LeaseRecord } from "./lease-record.ts";

/** The Lease, who is a candidate for it, and how long it is held. */
export interface ElectionOptions {
  readonly client: KubernetesClient;
  /** Where the Lease (coordination.k8s.io/v1) is. */
  readonly namespace: string;
  readonly name: string;
  /** Unlike any other candidate's, such as the pod's name with a random end. */
  readonly identity: string;
  /** The leader's work. Its signal aborts when leadership is lost or the candidate is to stop. */
  readonly onLeading: (signal: AbortSignal) => Promise<void>;
  readonly clock?: Clock;
  readonly log?: Log;
  /** Milliseconds: others may take over after this. Default 15 000. */
  readonly leaseDuration?: number;
  /** Milliseconds: the leader gives up if it could not renew for this long; below `leaseDuration`. Default 10 000. */
  readonly renewDeadline?: number;
  /** Milliseconds between attempts. Default 2 000. */
  readonly retryPeriod?: number;
}

/**
 * Takes part in leader election until `signal` aborts or `onLeading` ends by itself. One who lost the lease stops its
 * work and takes part again. The lease is renewed until the work has really ended, and released after that. Rejects
 * with what `onLeading` throws, unless `signal` has aborted.
 */
export async function electLeader(options: ElectionOptions, signal: AbortSignal): Promise<void> {
  const campaign = new Campaign(options);
  while (!signal.aborted) {
    if (await campaign.win(signal)) {
      if ((await campaign.lead(signal)) === "finished") return;
    }
  }
}

class Campaign {
  readonly #options: ElectionOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #record: LeaseRecord;
  readonly #renewDeadline: number;
  readonly #retryPeriod: number;
  #wonAt = 0;
  /** The leader that the log has named; undefined: none. */
  #standingBy: string | undefined;
  /** Why the last claims failed, as the log has it; undefined: the last one did not. */
  #failing: string | undefined;

  constructor(options: ElectionOptions) {
    const { client, namespace, name, identity } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#log = (options.log ?? silentLog).with({ lease: `${namespace}/${name}`, identity });
    this.#renewDeadline = options.renewDeadline ?? 10_000;
    this.#retryPeriod = options.retryPeriod ?? 2_000;
    const leaseDuration = options.leaseDuration ?? 15_000;
    this.#record = new LeaseRecord({ client, namespace, name, identity, clock: this.#clock, leaseDuration });
  }

  /** Tries once; waits a period if another leads. False also when `signal` has aborted. */
  async win(signal: AbortSignal): Promise<boolean> {
    const began = this.#clock.now();
    try {
      if ((await this.#claim(this.#renewDeadline, signal)) === "held") {
        this.#wonAt = began;
        this.#standingBy = undefined;
        return true;
      }
      this.#logLeader();
      // Spread, so that many candidates do not claim in the same instant.
      await this.#clock.sleep(this.#retryPeriod * (1 + Math.random() * 0.2), signal);
    } catch {
      // Only the abort gets here.
    }
    return false;
  }

  /** Once for each leader. */
  #logLeader(): void {
    const leader = this.#record.holder;
    if (leader === undefined || leader === this.#standingBy) return;
    this.#standingBy = leader;
    this.#log.info("waiting as standby", { leader });
  }

  async lead(signal: AbortSignal): Promise<"finished" | "again"> {
    const lost = new AbortController();
    const ended = new AbortController();
    this.#log.info("leading");
    const keeping = this.#keep(ended.signal).then((why) => {
      if (why === undefined) return;
      this.#log.warn("no longer leading", { reason: why });
      lost.abort(new CausewayError("KUBERNETES_LEADERSHIP_LOST", `the lease ${this.#options.name} was lost: ${why}`));
    });
    const term = AbortSignal.any([signal, lost.signal]);
    try {
      await this.#options.onLeading(term);
      return term.aborted ? "again" : "finished";
    } catch (error) {
      if (!term.aborted) throw error;
      return "again";
    } finally {
      ended.abort();
      await keeping;
      if (!lost.signal.aborted) await this.#release();
    }
  }

  /** Renews until `ended`; the reason if the lease is lost before. */
  async #keep(ended: AbortSignal): Promise<string | undefined> {
    let renewedAt = this.#wonAt;
    for (;;) {
      try {
        await this.#clock.sleep(this.#retryPeriod, ended);
        const began = this.#clock.now();
        const claim = await this.#claim(renewedAt + this.#renewDeadline - began, ended);
        if (claim === "held") renewedAt = began;
        else if (claim === "other") return `${this.#record.holder ?? "another"} holds it`;
      } catch {
        return undefined;
      }
      if (this.#clock.now() - renewedAt >= this.#renewDeadline) return "it could not be renewed in time";
    }
  }

  /** One claim, given up after `limit` ms. Undefined: the server did not say. Rejects only when `signal` aborts. */
  async #claim(limit: number, signal: AbortSignal): Promise<string | undefined> {
    const call = new AbortController();
    const timer = new AbortController();
    this.#clock.sleep(Math.max(limit, 0), timer.signal).then(
      () => call.abort(new CausewayError("KUBERNETES_UNREACHABLE", "the API server did not answer in time")),
      () => {},
    );
    try {
      const given = AbortSignal.any([signal, call.signal]);
      const claim = await unlessAborted(this.#record.claim(given), given);
      this.#failing = undefined;
      return claim;
    } catch (error) {
      signal.throwIfAborted();
      this.#logFailure(messageOf(error));
      return undefined;
    } finally {
      timer.abort();
    }
  }

  /** A warning for each reason, not for each attempt. */
  #logFailure(reason: string): void {
    const level = reason === this.#failing ? "debug" : "warn";
    this.#failing = reason;
    this.#log[level]("the lease could not be claimed; retrying", { reason });
  }

  async #release(): Promise<void> {
    const call = new AbortController();
    const timer = new AbortController();
    this.#clock.sleep(this.#retryPeriod, timer.signal).then(
      () => call.abort(),
      () => {},
    );
    try {
      await this.#record.release(call.signal);
    } catch (error) {
      this.#log.debug("the lease was not released and will run out", { reason: messageOf(error) });
    } finally {
      timer.abort();
    }
  }
}
