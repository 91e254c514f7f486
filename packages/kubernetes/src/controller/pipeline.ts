import {
  CausewayError,
  isAborted,
  messageOf,
  silentLog,
  systemClock,
  type Clock,
  type Log,
  type Metrics,
} from "@causeway/foundation";
import type { ObjectKey } from "../types/meta.ts";
import { Brake } from "./brake.ts";
import { notConverging, plainAim } from "./brake-event.ts";
import type { Plan, PlannedEvent, Reconcile, ReconcileResult, Pipeline } from "./interface.ts";

/** The clock and the brake of a pipeline. */
export interface PipelineOptions {
  readonly clock?: Clock;
  readonly log?: Log;
  /** Rounds of gather, plan and perform before the key goes to the end of the queue. Default 10. */
  readonly maxRounds?: number;
  /** The controller's, for the brake's metric. */
  readonly name?: string;
  readonly metrics?: Metrics | undefined;
  /** Given where `gather` asks it what is held back, so that the plan can do other things meanwhile. */
  readonly brake?: Brake;
  /** Does work that is not interrupted on the account of whom the controller works for. Default: does it. */
  readonly charge?: Charge;
}

/** Does `work`, which ends without waiting, on an account. */
export type Charge = <T>(work: () => T) => T;

/**
 * The reconcile of a pipeline: gather and plan; while the plan has steps, perform them in order and plan again;
 * once it has none, publish its status with the events of all rounds. `wait.until` becomes `after`. A step that
 * throws ends the walk: the status from `failed` is published, and the error is passed to the queue's back-off.
 * A step that the brake holds back ends the walk, too, and comes back when its hold is over.
 */
export function runPipeline<Observed, Step, Status, Planned extends Plan<Step, Status> = Plan<Step, Status>>(
  pipeline: Pipeline<Observed, Step, Status, Planned>,
  options: PipelineOptions = {},
): Reconcile {
  const { clock = systemClock, log = silentLog, maxRounds = 10, name, metrics, charge = (work) => work() } = options;
  const brake =
    options.brake ?? new Brake({ clock, ...(name === undefined ? {} : { name }), ...(metrics ? { metrics } : {}) });
  const walk = { pipeline, clock, log, maxRounds, brake, charge, unread: new Set<string>() };
  return (key, signal) => reconcile(walk, key, signal);
}

interface Walk<Observed, Step, Status> {
  readonly pipeline: Pipeline<Observed, Step, Status>;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxRounds: number;
  readonly brake: Brake;
  readonly charge: Charge;
  /** Keys whose last gather failed. */
  readonly unread: Set<string>;
}

/** A first failure is often over at the next attempt: one that follows another is reported on the object. */
async function gather<Observed, Step, Status>(
  { pipeline, charge, unread, log }: Walk<Observed, Step, Status>,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Observed | undefined> {
  const text = `${key.namespace}/${key.name}`;
  try {
    const observed = await charge(() => pipeline.gather(key, signal));
    unread.delete(text);
    return observed;
  } catch (error) {
    if (signal.aborted || isAborted(error)) throw error;
    if (unread.has(text)) {
      await pipeline.unread?.(key, error, signal).catch((failure: unknown) => {
        log.warn("the status of a failed read could not be written", { ...key, reason: messageOf(failure) });
      });
    }
    unread.add(text);
    throw error;
  }
}

async function reconcile<Observed, Step, Status>(
  walk: Walk<Observed, Step, Status>,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const { pipeline, clock, log, maxRounds, brake, charge } = walk;
  const events: PlannedEvent[] = [];
  for (let round = 1; ; round++) {
    signal.throwIfAborted();
    const observed = await gather(walk, key, signal);
    if (observed === undefined) return brake.forget(key);
    if (pipeline.epochOf) brake.begin(key, pipeline.epochOf(observed));
    const plan = charge(() => pipeline.plan(observed, clock.now()));
    const again = pipeline.planned?.(observed, plan, clock.now()) ?? undefined;
    if (plan.steps.length === 0) {
      if (!plan.wait) brake.forget(key);
      else if (plan.wait.onlyHeld) brake.forgetSettled(key);
      const later = await pipeline.publish(observed, plan.status, merged(events, plan.events), signal);
      return afterWait([plan.wait?.until, again, instantOf(later, clock)], clock.now());
    }
    const { due, held, only } = sorted(walk, key, plan.steps);
    const leg = { key, observed, plan, events, due };
    if (due.length === 0 && held) return endHeld(walk, { ...leg, held, only }, signal);
    if (round > maxRounds) {
      await pipeline.publish(observed, plan.status, merged(events, plan.events), signal);
      log.warn("more steps than one turn may take; the rest follow in the next", { ...key, rounds: maxRounds });
      return { after: 0 };
    }
    await performAll(walk, leg, signal);
    events.push(...(plan.events ?? []));
  }
}

interface Held<Step> {
  readonly step: Step;
  readonly until: number;
  readonly error?: unknown;
}

/**
 * The steps that may be performed now, and the first that may not. What follows one that may not is left out, unless it
 * is independent of it.
 */
function sorted<Observed, Step, Status>(
  { pipeline, brake }: Walk<Observed, Step, Status>,
  key: ObjectKey,
  steps: readonly Step[],
): { due: Step[]; held: Held<Step> | undefined; only: boolean } {
  const due: Step[] = [];
  const held: Held<Step>[] = [];
  for (const step of steps) {
    if (!held.every((before) => pipeline.isIndependent?.(step, before.step) === true)) break;
    const hold = brake.holdOf(key, step);
    if (hold) held.push({ step, ...hold });
    else due.push(step);
  }
  const only = due.length + held.length === steps.length;
  return { due, held: held.toSorted((a, b) => a.until - b.until)[0], only };
}

interface Leg<Observed, Step, Status> {
  readonly key: ObjectKey;
  readonly observed: Observed;
  readonly plan: Plan<Step, Status>;
  /** Of the rounds before, and of the brake in this one. */
  readonly events: PlannedEvent[];
  readonly due: readonly Step[];
}

interface EndOfHeld<Step> {
  readonly held: Held<Step>;
  /** No step was left out because of it. */
  readonly only: boolean;
}

/** Publishes what is so while a step waits. Of the plan's events only warnings: what it announces is not done. */
async function endHeld<Observed, Step, Status>(
  { pipeline, clock, brake }: Walk<Observed, Step, Status>,
  { key, observed, plan, events, held, only }: Leg<Observed, Step, Status> & EndOfHeld<Step>,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  if (only && (!plan.wait || plan.wait.onlyHeld)) brake.forgetSettled(key);
  const { step, error, until } = held;
  const status = error === undefined ? plan.status : pipeline.failed(observed, plan, step, error).status;
  const warnings = (plan.events ?? []).filter(({ type }) => type === "Warning");
  const later = await pipeline.publish(observed, status, merged(events, warnings), signal);
  return afterWait([until, plan.wait?.until, instantOf(later, clock)], clock.now()) ?? {};
}

async function performAll<Observed, Step, Status>(
  walk: Walk<Observed, Step, Status>,
  leg: Leg<Observed, Step, Status>,
  signal: AbortSignal,
): Promise<void> {
  const { pipeline, log, brake } = walk;
  for (const step of leg.due) {
    try {
      signal.throwIfAborted();
      const outcome = await pipeline.perform(step, leg.observed, signal);
      if (outcome !== "deferred") {
        log.info("performed a step", { ...leg.key, ...aimOf(walk, leg, step) });
        countPerformed(walk, leg, step);
      }
    } catch (error) {
      if (signal.aborted) throw error;
      if (isAborted(error)) throw error;
      if (pipeline.isRefusal?.(error) === true) brake.refused(leg.key, step, error);
      const { status, events } = pipeline.failed(leg.observed, leg.plan, step, error);
      try {
        await pipeline.publish(leg.observed, status, merged(leg.events, events), signal);
      } catch (failure) {
        // The step's error is the one that matters; the status is written with the next attempt.
        const code = failure instanceof CausewayError ? failure.code : undefined;
        log.warn("the status of a failed step could not be written", { reason: messageOf(failure), code });
      }
      throw error;
    }
  }
}

/** What a step is about, for the log: its type, and its target where it has one. */
function aimOf<Observed, Step, Status>(
  { pipeline }: Walk<Observed, Step, Status>,
  { observed }: Leg<Observed, Step, Status>,
  step: Step,
): { readonly step: string; readonly target?: string } {
  const { type, target } = pipeline.aimOf?.(step, observed) ?? plainAim(step);
  return { step: type, ...(target === undefined ? {} : { target }) };
}

/** Where the step begins to be held back, an event says so, once. */
function countPerformed<Observed, Step, Status>(
  { pipeline, brake, log, clock }: Walk<Observed, Step, Status>,
  { key, observed, events }: Leg<Observed, Step, Status>,
  step: Step,
): void {
  const braked = brake.performed(key, step);
  if (!braked) return;
  const event = notConverging(step, { aim: pipeline.aimOf?.(step, observed), times: braked.times });
  log.warn("a reconcile does not converge", { ...key, what: event.message, retryMs: braked.until - clock.now() });
  if (braked.first) events.push(event);
}

/** When a status that was held back is to be published. */
function instantOf(held: ReconcileResult | void, clock: Clock): number | undefined {
  return held?.after === undefined ? undefined : clock.now() + held.after;
}

function afterWait(moments: readonly (number | undefined)[], now: number): ReconcileResult | void {
  const known = moments.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : { after: Math.max(0, Math.min(...known) - now) };
}

/** Events of all rounds, each once, in the order in which they came. */
function merged(before: readonly PlannedEvent[], now: readonly PlannedEvent[] = []): PlannedEvent[] {
  const all = new Map([...before, ...now].map((event) => [`${event.reason}\n${event.message}`, event]));
  return [...all.values()];
}
