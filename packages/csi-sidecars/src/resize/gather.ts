import type { Informer, ObjectKey, PersistentVolume, PersistentVolumeClaim } from "@causeway/kubernetes";
import type { SidecarDriver } from "../context.ts";
import { volumeOf, type DriverVolume } from "../volume.ts";

/** What the plan of an expansion reads. */
export interface Observed {
  readonly claim: PersistentVolumeClaim;
  readonly found: DriverVolume;
}

/** The informers that an expansion is gathered from. */
export interface Caches {
  readonly driver: SidecarDriver;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
}

/** Reads a claim that is bound to a volume of this driver; undefined: it is not, or it is gone. */
export function gather({ driver, claims, volumes }: Caches, key: ObjectKey): Observed | undefined {
  const claim = claims.get(key);
  const found = volumeOf(driver, volumes.get({ namespace: "", name: claim?.spec.volumeName ?? "" }));
  if (!claim || !found || found.volume.spec.claimRef?.uid !== claim.metadata.uid) return undefined;
  return { claim, found };
}
