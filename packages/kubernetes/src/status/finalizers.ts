import { CausewayError } from "@causeway/foundation";
import { isConflict, isInvalid, isNotFound } from "../client/errors.ts";
import type { JsonPatchOperation, KubernetesClient } from "../client/interface.ts";
import { keyOf } from "../types/identity.ts";
import type { KubeObject, ResourceType } from "../types/meta.ts";

/** The client, the signal, and whether a missing object is an error. */
export interface FinalizerOptions {
  readonly finalizer: string;
  readonly signal?: AbortSignal;
}

const ATTEMPTS = 5;

/**
 * The object with the finalizer. One JSON patch that the server refuses if the object has changed since `object` was
 * read; then it is read again. An object that is being deleted is returned as it is: no finalizer may be added to it.
 */
export async function addFinalizer<T extends KubeObject>(
  client: KubernetesClient,
  type: ResourceType<T>,
  object: T,
  options: FinalizerOptions,
): Promise<T> {
  const { finalizer } = options;
  return patchUntilTrue({ client, type, options }, object, ({ metadata }) => {
    const held = metadata.finalizers ?? [];
    if (metadata.deletionTimestamp !== undefined || held.includes(finalizer)) return undefined;
    return [
      { op: "test", path: "/metadata/resourceVersion", value: metadata.resourceVersion },
      held.length === 0
        ? { op: "add", path: "/metadata/finalizers", value: [finalizer] }
        : { op: "add", path: "/metadata/finalizers/-", value: finalizer },
    ];
  });
}

/** Takes the finalizer off; undefined if the object is gone, which taking off the last one may bring about. */
export async function removeFinalizer<T extends KubeObject>(
  client: KubernetesClient,
  type: ResourceType<T>,
  object: T,
  options: FinalizerOptions,
): Promise<T | undefined> {
  try {
    return await patchUntilTrue({ client, type, options }, object, ({ metadata }) => {
      const at = metadata.finalizers?.indexOf(options.finalizer) ?? -1;
      if (at === -1) return undefined;
      const path = `/metadata/finalizers/${at}`;
      return [
        { op: "test", path: "/metadata/uid", value: metadata.uid },
        { op: "test", path, value: options.finalizer },
        { op: "remove", path },
      ];
    });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

interface Target<T extends KubeObject> {
  readonly client: KubernetesClient;
  readonly type: ResourceType<T>;
  readonly options: FinalizerOptions;
}

/** Sends the patch for the object as it was read; when that reading was old, reads again and starts over. */
async function patchUntilTrue<T extends KubeObject>(
  target: Target<T>,
  object: T,
  patchFor: (object: T) => JsonPatchOperation[] | undefined,
): Promise<T> {
  const { client, type } = target;
  const signal = target.options.signal ? { signal: target.options.signal } : {};
  let current = object;
  for (let attempt = 1; ; attempt++) {
    const body = patchFor(current);
    if (!body) return current;
    try {
      return await client.patch(type, keyOf(current), { type: "json", body }, signal);
    } catch (error) {
      // A failed test is "Invalid" to a kube-apiserver.
      if (attempt === ATTEMPTS || !(isConflict(error) || isInvalid(error))) throw error;
      const fresh = await client.get(type, keyOf(current), signal);
      if (fresh.metadata.uid !== object.metadata.uid) throw replaced(object);
      current = fresh;
    }
  }
}

function replaced(object: KubeObject): CausewayError {
  const { name } = object.metadata;
  return new CausewayError("KUBERNETES_NOT_FOUND", `the ${object.kind} ${name} is gone, and another has its name`);
}
