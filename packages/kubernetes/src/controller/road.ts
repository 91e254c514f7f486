import {
  CausewayError,
  isAborted,
  messageOf,
  silentLog,
  systemClock,
  type Clock,
  type Log,
} from "@causeway/foundation";
import type { ObjectKey } from "../types/meta.ts";
import type { Plan, PlannedEvent, Reconcile, ReconcileResult, Road } from "./interface.ts";

export interface RoadOptions {
  readonly clock?: Clock;
  readonly log?: Log;
  /** Rounds of gather, plan and perform before the key goes to the end of the queue. Default 10. */
  readonly maxRounds?: number;
}

/**
 * The reconcile that walks a road: gather and plan; while the plan has steps, perform them in order and plan anew;
 * once it has none, publish its status with the events of all rounds. `wait.until` becomes `after`. A step that
 * throws ends the walk: the status from `failed` is published, and the error goes on to the queue's back-off.
 */
export function followRoad<Observed, Step, Status>(
  road: Road<Observed, Step, Status>,
  options: RoadOptions = {},
): Reconcile {
  const walk = {
    road,
    clock: options.clock ?? systemClock,
    log: options.log ?? silentLog,
    maxRounds: options.maxRounds ?? 10,
  };
  return (key, signal) => reconcile(walk, key, signal);
}

interface Walk<Observed, Step, Status> {
  readonly road: Road<Observed, Step, Status>;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxRounds: number;
}

async function reconcile<Observed, Step, Status>(
  walk: Walk<Observed, Step, Status>,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const { road, clock, log, maxRounds } = walk;
  const events: PlannedEvent[] = [];
  for (let round = 1; ; round++) {
    signal.throwIfAborted();
    const observed = await road.gather(key, signal);
    if (observed === undefined) return undefined;
    const plan = road.plan(observed, clock.now());
    if (plan.steps.length === 0 || round > maxRounds) {
      await road.publish(observed, plan.status, merged(events, plan.events), signal);
      if (plan.steps.length === 0) return afterWait(plan, clock.now());
      log.warn("more steps than one turn may take; the rest follow in the next", { ...key, rounds: maxRounds });
      return { after: 0 };
    }
    await performAll(walk, { observed, plan, events }, signal);
    events.push(...(plan.events ?? []));
  }
}

interface Leg<Observed, Step, Status> {
  readonly observed: Observed;
  readonly plan: Plan<Step, Status>;
  readonly events: readonly PlannedEvent[];
}

async function performAll<Observed, Step, Status>(
  walk: Walk<Observed, Step, Status>,
  leg: Leg<Observed, Step, Status>,
  signal: AbortSignal,
): Promise<void> {
  const { road, log } = walk;
  for (const step of leg.plan.steps) {
    try {
      signal.throwIfAborted();
      await road.perform(step, leg.observed, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      if (isAborted(error)) throw error;
      const { status, events } = road.failed(leg.observed, leg.plan, step, error);
      try {
        await road.publish(leg.observed, status, merged(leg.events, events), signal);
      } catch (failure) {
        // The step's error is the one that matters; the status is written with the next attempt.
        const code = failure instanceof CausewayError ? failure.code : undefined;
        log.warn("the status of a failed step could not be written", { reason: messageOf(failure), code });
      }
      throw error;
    }
  }
}

function afterWait<Step, Status>(plan: Plan<Step, Status>, now: number): ReconcileResult | void {
  const until = plan.wait?.until;
  return until === undefined ? undefined : { after: Math.max(0, until - now) };
}

/** Events of all rounds, each once, in the order in which they came. */
function merged(before: readonly PlannedEvent[], now: readonly PlannedEvent[] = []): PlannedEvent[] {
  const all = new Map([...before, ...now].map((event) => [`${event.reason}\n${event.message}`, event]));
  return [...all.values()];
}
