import type { Clock, Log } from "@causeway/foundation";
import type { ObjectKey } from "../types/meta.ts";
import type { KeyGroups } from "./turns.ts";
import type { MeasuredQueue } from "./queue-measures.ts";
import type { RetryRate } from "./work-queue.ts";

/**
 * Something that names keys to reconcile: at once, or `after` so many milliseconds, with what is named meanwhile.
 * Returns how to stop it.
 */
export type Source = (enqueue: (key: ObjectKey, after?: number) => void) => () => void;

/** What a reconcile that did not fail leaves behind. */
export interface ReconcileResult {
  /** Reconcile again after this many milliseconds, whatever happens. */
  readonly after?: number;
}

/** Brings the object of a key nearer to what it should be. */
export type Reconcile = (key: ObjectKey, signal: AbortSignal) => Promise<ReconcileResult | void>;

/** What a controller reconciles, what it watches, and how many keys at a time. */
export interface ControllerOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  readonly sources: readonly Source[];
  /**
   * Awaited before the first key is worked on: the caches that reconcile reads must be filled (`informers.whenSynced`).
   */
  readonly ready?: (signal: AbortSignal) => Promise<void>;
  /** Keys worked on at once; one key never twice. Default 8. */
  readonly concurrency?: number;
  /**
   * Keys that may wait for the same slow party, which are not to occupy all workers. Those of which work takes longer
   * than 5 s share half of the workers, and more workers begin in place of those that wait. Default: none.
   */
  readonly groups?: KeyGroups;
  /** Where its queue is measured, and as whose. */
  readonly measured?: MeasuredQueue;
  /** The namespaces that this process works on. Default: all. */
  readonly shards?: Shards | undefined;
  /** How often all of its failed keys together are tried again. Default: as their back-offs say. */
  readonly retries?: RetryRate;
  readonly clock?: Clock;
  readonly log?: Log;
}

/**
 * Runs until `signal` aborts and every reconcile under way has ended. Failed keys are retried with back-off (5 ms … 60
 * s, jittered).
 */
export type RunController = (options: ControllerOptions, signal: AbortSignal) => Promise<void>;

/**
 * The namespaces that this process works on, of those that several processes share: each belongs to one process at a
 * time.
 */
export interface Shards {
  owns(namespace: string): boolean;
  /** Begins work in a namespace; undefined: it belongs to another process. */
  enter(namespace: string): ShardVisit | undefined;
  /** When (ms since epoch) this process got the namespace; undefined: it belongs to another. */
  since(namespace: string): number | undefined;
  /** Calls back after this process got or gave up namespaces. Returns how to stop it. */
  onChange(handler: () => void): () => void;
  /**
   * Awaited before work begins in namespaces that this process got: a cache that lags behind the process that had them
   * would create again what that one created. One that fails is repeated. Returns how to stop it.
   */
  beforeWork(handler: (signal: AbortSignal) => Promise<void>): () => void;
}

/** Work in a namespace. It is given to another process after every `leave`. */
export interface ShardVisit {
  /** Aborts when the namespace is to be given up. */
  readonly signal: AbortSignal;
  leave(): void;
}

/** Waiting is a value: what for, and when to reconcile again even if no event comes (ms since epoch). */
export interface Wait {
  readonly for: string;
  readonly until?: number;
  /** Only steps that the brake holds back are left to do: every other step has settled. */
  readonly onlyHeld?: true;
}

/** An event to record on the reconciled object. Repeats are merged by (reason, message). */
export interface PlannedEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** What a pure planner says: steps towards the desired state, and the status of the world as observed. */
export interface Plan<Step, Status> {
  readonly steps: readonly Step[];
  readonly status: Status;
  readonly wait?: Wait;
  readonly events?: readonly PlannedEvent[];
}

/** A field that a step sets and that comes back otherwise. */
export interface Difference {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** What a step is about, for the event that it does not settle. */
export interface StepAim {
  readonly type: string;
  readonly target?: string;
  readonly differences?: readonly Difference[];
}

/**
 * The one pipeline. `gather` reads (undefined: the object is gone, nothing to do), `plan` decides, `perform` makes one
 * step true and is safe to repeat, `publish` writes status (one server-side apply) and events, and writes nothing when
 * nothing changed, or says after which time it is to be called again. `failed` is the status to publish when a step
 * throws. `aimOf` and the members after it are for the brake (`Brake`), which holds back steps that are planned again
 * and again.
 */
export interface Pipeline<Observed, Step, Status, Planned extends Plan<Step, Status> = Plan<Step, Status>> {
  gather(key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined>;
  /** Says on the object that `gather` failed twice in a row, or more often. Default: the log says it alone. */
  unread?(key: ObjectKey, error: unknown, signal: AbortSignal): Promise<void>;
  plan(observed: Observed, now: number): Planned;
  /**
   * Called with every plan, for effects that are no steps: requests the lists that it names to be read soon, and notes
   * what the process remembers. Returns when to gather again at the latest (ms since epoch), where the plan waits.
   */
  planned?(observed: Observed, plan: Planned, now: number): number | void;
  /** "deferred": it was not done, and when it is retried is the plan's affair: the brake does not count it. */
  perform(step: Step, observed: Observed, signal: AbortSignal): Promise<void | "deferred">;
  publish(
    observed: Observed,
    status: Status,
    events: readonly PlannedEvent[],
    signal: AbortSignal,
  ): Promise<ReconcileResult | void>;
  failed(
    observed: Observed,
    plan: Plan<Step, Status>,
    step: Step,
    error: unknown,
  ): { status: Status; events: readonly PlannedEvent[] };
  /** Default: the step's `type`, and its `id`, `name` or `poolId`. */
  aimOf?(step: Step, observed: Observed): StepAim;
  /** Would the same step be refused again? Then it waits 5 s and ever longer. Default: never. */
  isRefusal?(error: unknown): boolean;
  /** May `later` be performed while `held` is held back? Default: no. */
  isIndependent?(later: Step, held: Step): boolean;
  /** What the object asks for, as a text: when it changes, nothing is held back. Default: nothing is known of it. */
  epochOf?(observed: Observed): string;
}
