import { CausewayError } from "@causeway/foundation";
import type { StoreKey } from "./interface.ts";

/** "pods", "deployments.apps": how Kubernetes names a resource in messages. */
export function qualifiedResource(resource: string): string {
  const slash = resource.indexOf("/");
  const group = resource.slice(0, slash);
  const plural = resource.slice(slash + 1);
  return group === "" ? plural : `${plural}.${group}`;
}

/** KUBERNETES_ALREADY_EXISTS, for a create. */
export function alreadyExists(key: StoreKey): CausewayError {
  return new CausewayError("KUBERNETES_ALREADY_EXISTS", `${subject(key)} already exists`, { details: { ...key } });
}

/** KUBERNETES_NOT_FOUND, for an update or a removal. */
export function notFound(key: StoreKey): CausewayError {
  return new CausewayError("KUBERNETES_NOT_FOUND", `${subject(key)} not found`, { details: { ...key } });
}

/** A compare-and-swap that was lost: the caller reads again, or answers its client with a 409. */
export function conflict(key: StoreKey, expected: number, actual: number): CausewayError {
  return new CausewayError(
    "STORE_CONFLICT",
    `Operation cannot be fulfilled on ${subject(key)}: the object has been modified; please apply your changes to the latest version and try again`,
    { details: { ...key, expected, actual } },
  );
}

/** KUBERNETES_EXPIRED: history before revision `floor` is compacted. Servers respond with 410 Gone. */
export function expired(revision: number, floor: number): CausewayError {
  return new CausewayError("KUBERNETES_EXPIRED", `too old resource version: ${revision} (${floor})`, {
    hint: "List again and continue from the revision of that list.",
    details: { revision, floor },
  });
}

/** KUBERNETES_REVISION_TOO_LARGE: a read at a revision that the store has not reached yet. */
export function ahead(revision: number, newest: number): CausewayError {
  return new CausewayError(
    "KUBERNETES_REVISION_TOO_LARGE",
    `Too large resource version: ${revision}, current: ${newest}`,
    { hint: "Retry in a second, or request no resource version.", details: { revision, newest } },
  );
}

function subject(key: StoreKey): string {
  return `${qualifiedResource(key.resource)} "${key.name}"`;
}
