import type { KubeObject } from "@causeway/kubernetes";
import { apiVersionOf, type ScalePaths } from "../contract/resource.ts";
import {
  difference,
  intersection,
  isEmpty,
  managerKey,
  pathsSet,
  readManagers,
  withManagers,
  type Manager,
  type Managers,
} from "../patch/index.ts";
import type { Call } from "../contract/call.ts";

const SCALE = "autoscaling/v1";
const IN_SCALE = pathsSet(["spec", "replicas"]);
const NO_MANAGERS: Managers = new Map();

/** A Scale that is owned by those who own the number of replicas in the object whose scale it is. */
export function ownedScale(scale: KubeObject, object: KubeObject, { specReplicas }: ScalePaths): KubeObject {
  const managers = readManagers(object.metadata.managedFields) ?? NO_MANAGERS;
  const own = pathsSet(specReplicas);
  const kept = [...managers.values()]
    .filter(({ fields }) => !isEmpty(intersection(fields, own)))
    .map((manager) => ({ ...manager, apiVersion: SCALE, fields: IN_SCALE }));
  return withManagers(scale, new Map(kept.map((manager) => [managerKey(manager), manager])));
}

/**
 * The object with its number of replicas owned by those who own that of its Scale. A new manager there has no time, and
 * who updates is always new, since the key of an updater has the version in it: so kube-apiserver has it.
 */
export function withScaleOwners<T extends KubeObject>(
  call: Pick<Call, "resource" | "version">,
  { object, scale, paths }: { readonly object: T; readonly scale: KubeObject; readonly paths: ScalePaths },
): T {
  const own = pathsSet(paths.specReplicas);
  const left = new Map(readManagers(scale.metadata.managedFields) ?? NO_MANAGERS);
  const result = new Map<string, Manager>();
  for (const [key, manager] of readManagers(object.metadata.managedFields) ?? NO_MANAGERS) {
    const isOwner = !isEmpty(intersection(manager.fields, own));
    if (!isOwner || left.delete(key)) result.set(key, manager);
    else result.set(key, { ...manager, fields: difference(manager.fields, own) });
  }
  const apiVersion = apiVersionOf(call.resource.group, call.version.name);
  for (const manager of left.values()) {
    if (isEmpty(intersection(manager.fields, IN_SCALE))) continue;
    // One who had the number already now has two entries, of which the next reader takes the one that has all but the
    // number.
    result.set(`scale ${managerKey(manager)}`, { ...manager, apiVersion, time: undefined, fields: own });
  }
  return withManagers(object, result);
}
