import {
  isNotFound,
  VolumeAttributesClass,
  type Informer,
  type KubernetesClient,
  type ObjectKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from "@causeway/kubernetes";
import type { SidecarDriver } from "../context.ts";
import { volumeOf, type DriverVolume } from "../volume.ts";
import { wantedClass } from "./plan-class.ts";

/** What the plan of a modification by a VolumeAttributesClass reads. */
export interface Observed {
  readonly driver: SidecarDriver;
  readonly claim: PersistentVolumeClaim;
  readonly found: DriverVolume;
  /** The class that the claim names, while it is not its volume's. */
  readonly attributes: VolumeAttributesClass | undefined;
}

/** The informers that a modification is gathered from. */
export interface Caches {
  readonly driver: SidecarDriver;
  readonly client: KubernetesClient;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
}

/** Reads a claim that is bound to a volume of this driver; undefined: it is not, or it is gone. */
export async function gather(caches: Caches, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const { driver, client, claims, volumes } = caches;
  const claim = claims.get(key);
  const found = volumeOf(driver, volumes.get({ namespace: "", name: claim?.spec.volumeName ?? "" }));
  if (!claim || !found || found.volume.spec.claimRef?.uid !== claim.metadata.uid) return undefined;
  const name = wantedClass(claim);
  const attributes = name === undefined ? undefined : await attributesClass(client, name, signal);
  return { driver, claim, found, attributes };
}

/** Undefined: there is none of the name. Servers before Kubernetes 1.34 do not serve this version. */
export async function attributesClass(
  client: KubernetesClient,
  name: string,
  signal: AbortSignal,
): Promise<VolumeAttributesClass | undefined> {
  try {
    return await client.find(VolumeAttributesClass, { namespace: "", name }, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
