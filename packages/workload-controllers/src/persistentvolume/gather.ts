import type { Informer, ObjectKey } from "@causeway/kubernetes";
import { volumeClaimKey, type PersistentVolume, type PersistentVolumeClaim } from "../objects/storage.ts";

/** A volume, and the claim that it is bound to. */
export interface Observed {
  readonly volume: PersistentVolume;
  /** The claim that the volume names, if it is the same one. */
  readonly claim: PersistentVolumeClaim | undefined;
}

/** What gather reads. */
export interface Caches {
  readonly volumes: Informer<PersistentVolume>;
  readonly claims: Informer<PersistentVolumeClaim>;
  /** Reads a claim from the server. */
  readonly find: (key: ObjectKey, signal: AbortSignal) => Promise<PersistentVolumeClaim | undefined>;
}

/** Undefined: the volume does not exist. */
export async function gather(
  { volumes, claims, find }: Caches,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Observed | undefined> {
  const volume = volumes.get(key);
  if (!volume) return undefined;
  const claimKey = volumeClaimKey(volume);
  const uid = volume.spec.claimRef?.uid;
  if (!claimKey || !uid) return { volume, claim: undefined };
  const cached = claims.get(claimKey);
  // The cache may be late, and a volume that is released loses its data.
  const claim = cached?.metadata.uid === uid ? cached : await find(claimKey, signal);
  return { volume, claim: claim?.metadata.uid === uid ? claim : undefined };
}
