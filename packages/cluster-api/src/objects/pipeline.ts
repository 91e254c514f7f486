import { CausewayError, messageOf } from "@causeway/foundation";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  keyOf,
  publishStatus,
  type KubeObject,
  type PlannedEvent,
  type ReconcileResult,
  type ResourceType,
} from "@causeway/kubernetes";
import type { CalmStatus } from "./calm-status.ts";
import type { Context } from "./context.ts";
import { fieldManager, performObjectStep, type ObjectStep } from "./steps.ts";

/** The steps of the reconcile pipelines that all controllers here have in common. */

/** Writes the status and records the events; an object that has gone meanwhile needs neither. */
export async function publish<T extends KubeObject>(
  context: Pick<Context, "informers" | "events">,
  type: ResourceType<T>,
  report: {
    readonly object: T;
    readonly status: object;
    readonly events: readonly PlannedEvent[];
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { object, status, events, signal } = report;
  try {
    await publishStatus(context.informers.client, type, object, { status, fieldManager, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return;
  }
  for (const event of events) context.events.event(object, event);
}

/**
 * The same for an object that sums up others: a status of which only messages differ waits until a second has passed
 * since the last, unless there is an event to record.
 */
export async function publishCalmly<T extends KubeObject>(
  context: Pick<Context, "informers" | "events">,
  calm: CalmStatus,
  type: ResourceType<T>,
  report: Parameters<typeof publish<T>>[2],
): Promise<ReconcileResult | void> {
  const after = report.events.length > 0 ? undefined : calm.hold(report.object, report.status);
  if (after !== undefined) return { after };
  return publish(context, type, report);
}

/** Performs a write; requested deletions, and objects found to exist, are known at the next reconcile. */
export async function performWrite(context: Context, step: ObjectStep, signal: AbortSignal): Promise<void> {
  if (step.type === "create") return createOnce(context, step, signal);
  const { client } = context.informers;
  try {
    await performObjectStep(client, step, signal);
  } catch (error) {
    // What is gone, or is another object by now, needs no deletion; a patch that fails is planned again.
    const isDone = step.type === "delete" ? isNotFound(error) || isConflict(error) : false;
    if (!isDone) throw error;
  }
  if (step.type === "delete") context.pendingDeletions.note(step.uid, context.clock.now());
}

/** Performs a step and emits its events at once: the object may be deleted before its status is next written. */
export async function performAndReport(
  context: Pick<Context, "events">,
  about: { readonly object: KubeObject; readonly events: readonly PlannedEvent[] },
  work: Promise<void>,
): Promise<void> {
  await work;
  for (const event of about.events) context.events.event(about.object, event);
}

/** Creates the object unless one of its name is there already. */
export async function createOnce(
  context: Pick<Context, "informers">,
  what: { readonly resource: ResourceType<KubeObject>; readonly object: KubeObject },
  signal: AbortSignal,
): Promise<void> {
  const { client } = context.informers;
  try {
    await client.create(what.resource, what.object, { fieldManager, signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const existing = await client.get(what.resource, keyOf(what.object), { signal });
    context.informers.for(what.resource).observe(existing);
  }
}

/** The events of a step that failed. A conflict on an object emits no event. */
export function failure<Status>(status: Status, error: unknown): { status: Status; events: PlannedEvent[] } {
  if (isConflict(error)) return { status, events: [] };
  const hint = error instanceof CausewayError && error.hint ? ` ${error.hint}` : "";
  return { status, events: [{ type: "Warning", reason: "ReconcileFailed", message: `${messageOf(error)}.${hint}` }] };
}
