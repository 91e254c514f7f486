import { messageOf } from "@causeway/foundation";
import {
  isConflict,
  isNotFound,
  ownerReference,
  publishStatus,
  type KubeObject,
  type PlannedEvent,
  type ResourceType,
  type PipelineOptions,
} from "@causeway/kubernetes";
import { CausewayError } from "@causeway/foundation";
import type { Context } from "../context.ts";
import type { ClaimStep } from "./claim.ts";

/** The cause that an API server gives of a create in a namespace that is being deleted. */
const NAMESPACE_TERMINATING = "NamespaceTerminating";

/** The writes that the controllers here have in common. */

/** What the controllers here call themselves in managedFields. */
export const fieldManager = "causeway-workload-controllers";

/** How a controller of the cluster reconciles. */
export function pipelineOptions({ clock, log, metrics, charge }: Context, name: string): PipelineOptions {
  return { clock, log, name, ...(metrics ? { metrics } : {}), ...(charge ? { charge } : {}) };
}

/** Writes the status and records the events; an object that is gone needs neither. */
export async function publish<T extends KubeObject>(
  context: Context,
  type: ResourceType<T>,
  found: {
    readonly object: T;
    readonly status: object;
    readonly events: readonly PlannedEvent[];
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { object, status, events, signal } = found;
  try {
    await publishStatus(context.informers.client, type, object, { status, fieldManager, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  for (const event of events) context.events.event(object, event);
}

/** The event for a step that failed. A lost race is no failure. */
export function failureEvents(reason: string, prefix: string, error: unknown): PlannedEvent[] {
  if (isConflict(error) || isNamespaceTerminating(error)) return [];
  return [{ type: "Warning", reason, message: `${prefix}: ${messageOf(error)}` }];
}

/** The namespace is being deleted: nothing can be created in it. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!(error instanceof CausewayError)) return false;
  const status = error.details?.["status"] as { details?: { causes?: { reason?: string }[] } } | undefined;
  return status?.details?.causes?.some(({ reason }) => reason === NAMESPACE_TERMINATING) ?? false;
}

/**
 * Adopts or releases an object. Before an adoption the owner is read from the server: a deletion that the cache does
 * not show yet must not adopt what its garbage collection then deletes.
 */
export async function performClaim<O extends KubeObject, T extends KubeObject>(
  context: Context,
  about: { readonly ownerType: ResourceType<O>; readonly owner: O; readonly type: ResourceType<T> },
  { type, target }: ClaimStep,
  signal: AbortSignal,
): Promise<void> {
  const { client } = context.informers;
  const { owner } = about;
  const { namespace = "", name, uid } = owner.metadata;
  const options = { fieldManager, signal };
  if (type === "adopt") {
    const fresh = await client.find(about.ownerType, { namespace, name }, { signal });
    if (fresh?.metadata.uid !== uid || fresh?.metadata.deletionTimestamp !== undefined) {
      throw new CausewayError(
        "KUBERNETES_CONFLICT",
        `${owner.kind} ${namespace}/${name} is gone or being deleted and adopts nothing`,
      );
    }
  }
  const reference = type === "adopt" ? ownerReference(owner, { controller: true }) : { $patch: "delete", uid };
  const body = { metadata: { uid: target.uid, ownerReferences: [reference] } };
  try {
    await client.patch(about.type, target, { type: "strategic", body }, options);
  } catch (error) {
    // Gone, or replaced by another of its name: nothing is left to claim.
    if (!isNotFound(error) && !(type === "release" && isConflict(error))) throw error;
  }
}
