import type { KubeObject } from "@causeway/kubernetes";
import { digestOf } from "./context.ts";

/** Digest of an object as it was written, see `stamped`. */
export const digestAnnotation = "openstack.causeway.dev/digest";

/** The object with the digest of its content: what was removed from it is seen by that. */
export function stamped<T extends KubeObject>(object: T): T {
  const { annotations } = object.metadata;
  const { ownerReferences: _owner, ...metadata } = object.metadata;
  const digest = digestOf({ ...object, metadata });
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [digestAnnotation]: digest } } };
}
