import { createHash } from "node:crypto";
import type { ApplyConfiguration, KubernetesClient } from "../client/interface.ts";
import { isReleased } from "../types/identity.ts";
import type { KubeObject, ResourceType } from "../types/meta.ts";
import { compareStatus, withStandingTimes } from "./same-status.ts";

/** Who writes a status, and with which client. */
export interface PublishOptions<S> {
  readonly status: S;
  readonly fieldManager: string;
  readonly signal?: AbortSignal;
}

/** A client that remembers what was last applied through it, by object and field manager. */
interface RememberingClient extends KubernetesClient {
  [applied]?: Map<string, string>;
}

const applied: unique symbol = Symbol("last applied status");

/**
 * Writes `status` by one server-side apply to the status subresource, and not at all when `object`, as it is cached,
 * shows it already. Fields other than ours are either another manager's, or ours from before, to be removed; the cache
 * does not show which (it holds no managedFields), so the first time an apply settles it, and is remembered.
 * Give `informers.client`, so that the next comparison sees the answer. Returns the object as it now is; of one that is
 * deleted and that nothing holds any more, which the server does not have, nothing is written.
 */
export async function publishStatus<T extends KubeObject, S extends object>(
  client: KubernetesClient,
  type: ResourceType<T>,
  object: T,
  options: PublishOptions<S>,
): Promise<T> {
  if (isReleased(object)) return object;
  const { fieldManager, signal } = options;
  const standing = (object as { status?: unknown }).status ?? {};
  const comparison = compareStatus(options.status, standing);
  const memory = ((client as RememberingClient)[applied] ??= new Map<string, string>());
  const id = [type.group, type.plural, object.metadata.uid, fieldManager].join("/");
  // Most statuses have no more fields than ours, and need no digest.
  const isKnown = (): boolean => memory.has(id) && memory.get(id) === digestOf(options.status);
  if (comparison.same && (!comparison.more || isKnown())) return object;
  const { name, namespace, uid } = object.metadata;
  const configuration = {
    apiVersion: object.apiVersion,
    kind: object.kind,
    // The uid keeps the status of a deleted object from landing on another of the same name.
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...(uid === undefined ? {} : { uid }) },
    status: withStandingTimes(options.status, standing),
  } as unknown as ApplyConfiguration<T>;
  const answer = await client.apply(type, configuration, {
    subresource: "status",
    fieldManager,
    ...(signal ? { signal } : {}),
  });
  const after = compareStatus(options.status, (answer as { status?: unknown }).status ?? {});
  if (after.more) memory.set(id, digestOf(options.status));
  else memory.delete(id);
  return answer;
}

function digestOf(status: object): string {
  const text = JSON.stringify(status, (name, value: unknown) => (name === "lastTransitionTime" ? undefined : value));
  return createHash("sha256").update(text).digest("base64url");
}
