import { randomBytes } from "node:crypto";
import { messageOf, silentLog, systemClock, type Clock, type Log } from "@causeway/foundation";
import { isNotFound } from "../client/errors.ts";
import type { KubernetesClient } from "../client/interface.ts";
import type { PlannedEvent } from "../controller/interface.ts";
import { timestamp } from "../status/conditions.ts";
import { Event } from "../types/core.ts";
import type { KubeObject } from "../types/meta.ts";
import { Recent } from "./recent.ts";

/** The client, and the component that events are from. */
export interface EventRecorderOptions {
  /** Who reports, as `kubectl describe` shows it under "From". */
  readonly component: string;
  readonly clock?: Clock;
  readonly log?: Log;
  /** The level at which the log has Warnings, each once. Default: info. */
  readonly warnings?: "info" | "warn";
  readonly signal?: AbortSignal;
}

/** Records what happened to an object as Events, on a best-effort basis: no caller waits for an Event. */
export interface EventRecorder {
  /** Records and returns at once. A repeat within ten minutes increments the count of the existing event. */
  event(object: KubeObject, event: PlannedEvent): void;
  /** Resolves when all that was recorded so far is sent or given up. */
  flush(): Promise<void>;
}

const MERGE_WINDOW = 600_000;
/** As client-go's spam filter: a burst of 25 per object, then one in five minutes. */
const BURST = 25;
const REFILL = 300_000;
const WAITING_LIMIT = 1_000;
const REMEMBERED = 4_096;
/** events.k8s.io/v1 allows no longer note. */
const MESSAGE_LIMIT = 1_024;

interface RecordedEvent {
  readonly namespace: string;
  readonly name: string;
  readonly count: number;
}

interface Budget {
  readonly tokens: number;
  readonly at: number;
}

/** A recorder that merges repeats and limits the rate of each object. */
export function createEventRecorder(client: KubernetesClient, options: EventRecorderOptions): EventRecorder {
  return new Recorder(client, options);
}

class Recorder implements EventRecorder {
  readonly #client: KubernetesClient;
  readonly #component: string;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #warnings: "info" | "warn";
  readonly #signal: AbortSignal | undefined;
  readonly #standing: Recent<RecordedEvent>;
  readonly #budgets: Recent<Budget>;
  #waiting = 0;
  #sending: Promise<void> = Promise.resolve();

  constructor(client: KubernetesClient, options: EventRecorderOptions) {
    this.#client = client;
    this.#component = options.component;
    this.#clock = options.clock ?? systemClock;
    this.#log = (options.log ?? silentLog).with({ component: options.component });
    this.#warnings = options.warnings ?? "info";
    this.#signal = options.signal;
    this.#standing = new Recent(REMEMBERED, MERGE_WINDOW);
    this.#budgets = new Recent(REMEMBERED, BURST * REFILL);
  }

  event(object: KubeObject, event: PlannedEvent): void {
    const now = this.#clock.now();
    if (this.#waiting >= WAITING_LIMIT || !this.#spend(object, now)) {
      this.#log.debug("event dropped", { reason: event.reason, object: object.metadata.name });
      return;
    }
    this.#waiting++;
    this.#sending = this.#sending
      .then(() => this.#send(object, event, now))
      .catch((error: unknown) => this.#log.debug("event not recorded", { reason: messageOf(error) }))
      .finally(() => this.#waiting--);
  }

  flush(): Promise<void> {
    return this.#sending;
  }

  #spend(object: KubeObject, now: number): boolean {
    const id = object.metadata.uid ?? `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    const held = this.#budgets.get(id, now) ?? { tokens: BURST, at: now };
    const tokens = Math.min(BURST, held.tokens + (now - held.at) / REFILL);
    this.#budgets.set(id, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now }, now);
    return tokens >= 1;
  }

  async #send(object: KubeObject, event: PlannedEvent, now: number): Promise<void> {
    if (this.#signal?.aborted) return;
    const id = [object.metadata.uid ?? object.metadata.name, event.type, event.reason, event.message].join("\n");
    const standing = this.#standing.get(id, now);
    if (event.type === "Warning" && standing === undefined) this.#logWarning(object, event);
    const next = (standing && (await this.#countUp(standing, now))) ?? (await this.#create(object, event, now));
    this.#standing.set(id, next, now);
  }

  /** Who reads the log alone learns what does not work; repeats are on the server. */
  #logWarning({ kind, metadata: { namespace, name } }: KubeObject, { reason, message }: PlannedEvent): void {
    const path = namespace === undefined ? name : `${namespace}/${name}`;
    this.#log[this.#warnings]("warning event", {
      object: `${kind} ${path}`,
      reason,
      message: message.slice(0, MESSAGE_LIMIT),
    });
  }

  /** Undefined when the event has expired on the server. */
  async #countUp(standing: RecordedEvent, now: number): Promise<RecordedEvent | undefined> {
    const count = standing.count + 1;
    try {
      await this.#client.patch(
        Event,
        standing,
        { type: "merge", body: { count, lastTimestamp: timestamp(now) } },
        this.#call(),
      );
      return { ...standing, count };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #create(object: KubeObject, event: PlannedEvent, now: number): Promise<RecordedEvent> {
    const { name, namespace = "default", uid, resourceVersion } = object.metadata;
    const metadata = { namespace, name: `${name.slice(0, 236)}.${randomBytes(8).toString("hex")}` };
    const at = timestamp(now);
    await this.#client.create(
      Event,
      {
        apiVersion: "v1",
        kind: "Event",
        metadata,
        involvedObject: {
          apiVersion: object.apiVersion,
          kind: object.kind,
          name,
          ...(object.metadata.namespace === undefined ? {} : { namespace }),
          ...(uid === undefined ? {} : { uid }),
          ...(resourceVersion === undefined ? {} : { resourceVersion }),
        },
        type: event.type,
        reason: event.reason,
        message: event.message.slice(0, MESSAGE_LIMIT),
        source: { component: this.#component },
        reportingComponent: this.#component,
        firstTimestamp: at,
        lastTimestamp: at,
        count: 1,
      },
      this.#call(),
    );
    return { ...metadata, count: 1 };
  }

  #call(): { signal?: AbortSignal } {
    return this.#signal ? { signal: this.#signal } : {};
  }
}
