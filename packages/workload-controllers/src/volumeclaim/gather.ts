import type { Informer, KubernetesClient, ObjectKey, Pod } from "@causeway/kubernetes";
import { Pod as PodType } from "@causeway/kubernetes";
import {
  claimsUsedBy,
  volumeIndex,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
} from "../objects/storage.ts";

/** A claim with the volumes and classes that it may be bound to or provisioned by. */
export interface Observed {
  readonly claim: PersistentVolumeClaim;
  /** The volume that the claim names. */
  readonly volume: PersistentVolume | undefined;
  /** Volumes of which the claim may get one: those of its class, and those that name the claim. */
  readonly volumes: readonly PersistentVolume[];
  readonly storageClass: StorageClass | undefined;
  /** All of the cluster, of which one may be the default. */
  readonly classes: readonly StorageClass[];
  /** Pods that use the claim. */
  readonly pods: readonly Pod[];
}

/** What gather reads; `client` lists pods from the server before a claim that is being deleted is unprotected. */
export interface Caches {
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly storageClasses: Informer<StorageClass>;
  readonly pods: Informer<Pod>;
  readonly client: KubernetesClient;
}

/** The index of pods by the claims that they use, as "namespace/name". */
export const byClaim = "claims";

/** Undefined: the claim does not exist. */
export async function gather(
  { claims, volumes, storageClasses, pods, client }: Caches,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Observed | undefined> {
  const claim = claims.get(key);
  if (!claim) return undefined;
  const { storageClassName = "", volumeName = "" } = claim.spec;
  const id = `${key.namespace}/${key.name}`;
  const reserved = volumes.byIndex(volumeIndex.claim, id);
  const ofClass = volumes.byIndex(volumeIndex.storageClass, storageClassName);
  const cached = pods.byIndex(byClaim, id);
  const isLeaving = claim.metadata.deletionTimestamp !== undefined;
  return {
    claim,
    volume: volumeName === "" ? undefined : volumes.get({ namespace: "", name: volumeName }),
    volumes: [...new Set([...reserved, ...ofClass])],
    storageClass: storageClasses.get({ namespace: "", name: storageClassName }),
    classes: storageClasses.list(),
    // The cache may be late: before a claim is given up the server has the last word.
    pods: isLeaving && cached.length === 0 ? await usersOf(client, key, signal) : cached,
  };
}

async function usersOf(client: KubernetesClient, { namespace, name }: ObjectKey, signal: AbortSignal): Promise<Pod[]> {
  const { items } = await client.list(PodType, { namespace, signal });
  return items.filter((pod) => claimsUsedBy(pod).includes(`${namespace}/${name}`));
}
