import type { Clock, Log } from "@causeway/foundation";
import type { ObjectKey } from "../types/meta.ts";
import type { MeasuredQueue } from "./queue-measures.ts";

/** Something that names keys to look at. Returns how to stop it. */
export type Source = (enqueue: (key: ObjectKey) => void) => () => void;

/** What a reconcile that did not fail leaves behind. */
export interface ReconcileResult {
  /** Look again after this many milliseconds, whatever happens. */
  readonly after?: number;
}

export type Reconcile = (key: ObjectKey, signal: AbortSignal) => Promise<ReconcileResult | void>;

export interface ControllerOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  readonly sources: readonly Source[];
  /** Awaited before the first key is worked on: what reconcile reads must be there, as `informers.whenSynced` tells. */
  readonly ready?: (signal: AbortSignal) => Promise<void>;
  /** Keys worked on at once; one key never twice. Default 8. */
  readonly concurrency?: number;
  /** Where its queue is measured, and as whose. */
  readonly measured?: MeasuredQueue;
  readonly clock?: Clock;
  readonly log?: Log;
}

/** Runs until `signal` aborts and every reconcile under way has ended. Failed keys are retried with back-off (5 ms … 60 s, jittered). */
export type RunController = (options: ControllerOptions, signal: AbortSignal) => Promise<void>;

/** Waiting is a value: what for, and when to look again even if no event comes (ms since epoch). */
export interface Wait {
  readonly for: string;
  readonly until?: number;
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

/**
 * The one road. `gather` reads (undefined: the object is gone, nothing to do), `plan` decides, `perform`
 * makes one step true and is safe to repeat, `publish` writes status (one server-side apply) and events,
 * and writes nothing when nothing changed. `failed` is the status to publish when a step throws.
 */
export interface Road<Observed, Step, Status> {
  gather(key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined>;
  plan(observed: Observed, now: number): Plan<Step, Status>;
  perform(step: Step, observed: Observed, signal: AbortSignal): Promise<void>;
  publish(observed: Observed, status: Status, events: readonly PlannedEvent[], signal: AbortSignal): Promise<void>;
  failed(
    observed: Observed,
    plan: Plan<Step, Status>,
    step: Step,
    error: unknown,
  ): { status: Status; events: readonly PlannedEvent[] };
}
