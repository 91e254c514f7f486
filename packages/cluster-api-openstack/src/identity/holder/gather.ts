import type { OpenStackCluster, OpenStackMachine } from "@causeway/api";
import type { Informer, ObjectKey, Secret } from "@causeway/kubernetes";
import type { Observed } from "./plan.ts";

/** Secrets and the objects that name them. */
export interface GatherFrom {
  readonly secrets: Informer<Secret>;
  /** Both indexed by "identity": "namespace/name" of the Secret. */
  readonly openStackClusters: Informer<OpenStackCluster>;
  readonly openStackMachines: Informer<OpenStackMachine>;
}

/** From caches. */
export async function gather(
  { secrets, openStackClusters, openStackMachines }: GatherFrom,
  key: ObjectKey,
): Promise<Observed | undefined> {
  const secret = secrets.get(key);
  if (!secret) return undefined;
  const id = `${key.namespace}/${key.name}`;
  const users = [openStackClusters.byIndex("identity", id), openStackMachines.byIndex("identity", id)];
  return { secret, isUsed: users.some((each) => each.length > 0) };
}
