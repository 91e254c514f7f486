import { Namespace, Node, Pod, Service, type Informer, type Informers } from "@causeway/kubernetes";
import { ReplicaSet, ReplicationController, StatefulSet, type SelectorOwner } from "../model/owners.ts";
import { PodDisruptionBudget } from "../objects/budget.ts";
import {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from "../objects/storage.ts";

/** What the scheduler watches. */
export interface Caches {
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly namespaces: Informer<Namespace>;
  readonly services: Informer<Service>;
  readonly replicaSets: Informer<SelectorOwner>;
  readonly statefulSets: Informer<SelectorOwner>;
  readonly replicationControllers: Informer<ReplicationController>;
  readonly budgets: Informer<PodDisruptionBudget>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly storageClasses: Informer<StorageClass>;
  readonly csiNodes: Informer<CSINode>;
  readonly csiDrivers: Informer<CSIDriver>;
  readonly capacities: Informer<CSIStorageCapacity>;
}

/** The index of volumes, and of capacities, by storage class. */
export const byStorageClass = "storageClass";

/** Informers with the indexes by storage class; those that other controllers use are shared with them. */
export function createCaches(informers: Informers): Caches {
  const volumes = informers.for(PersistentVolume);
  informers.index(volumes, { [byStorageClass]: ({ spec }) => [spec.storageClassName ?? ""] });
  const capacities = informers.for(CSIStorageCapacity);
  informers.index(capacities, { [byStorageClass]: ({ storageClassName }) => [storageClassName] });
  return {
    pods: informers.for(Pod),
    nodes: informers.for(Node),
    namespaces: informers.for(Namespace),
    services: informers.for(Service),
    replicaSets: informers.for(ReplicaSet),
    statefulSets: informers.for(StatefulSet),
    replicationControllers: informers.for(ReplicationController),
    budgets: informers.for(PodDisruptionBudget),
    claims: informers.for(PersistentVolumeClaim),
    volumes,
    storageClasses: informers.for(StorageClass),
    csiNodes: informers.for(CSINode),
    csiDrivers: informers.for(CSIDriver),
    capacities,
  };
}

/** No pod is scheduled before: a cache that is not complete would hide pods that use a node. */
export async function whenSynced(caches: Caches, signal: AbortSignal): Promise<void> {
  await Promise.all(
    Object.values(caches).map((informer: Pick<Informer<Pod>, "whenSynced">) => informer.whenSynced(signal)),
  );
}
