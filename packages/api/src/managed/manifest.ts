import type { KubeObject, ResourceType } from "@causeway/kubernetes";

/** An object to create or apply, with the type that says where. */
export interface Manifest<T extends KubeObject = KubeObject> {
  readonly type: ResourceType<T>;
  readonly object: T;
}

/** An object with the type that it has. */
export function manifest<T extends KubeObject>(type: ResourceType<T>, object: T): Manifest {
  return { type, object };
}
