import {
  PersistentVolume,
  PersistentVolumeClaim,
  type Informer,
  type KubernetesClient,
  type ObjectKey,
  type VolumeAttributesClass,
} from "@causeway/kubernetes";

/** A VolumeAttributesClass, and whether its finalizer is needed. */
export interface Observed {
  readonly attributesClass: VolumeAttributesClass;
  /** Whether a claim or a volume names the class. */
  readonly isUsed: boolean;
}

/** What gather reads; `client` reads users from the server before the finalizer of a class is removed. */
export interface Caches {
  readonly classes: Informer<VolumeAttributesClass>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly client: KubernetesClient;
}

/** Undefined: the class does not exist. */
export async function gather(
  { classes, claims, volumes, client }: Caches,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Observed | undefined> {
  const attributesClass = classes.get(key);
  if (!attributesClass) return undefined;
  const isUsed = [...claims.list(), ...volumes.list()].some((user) => namesOf(user).includes(key.name));
  const isLeaving = attributesClass.metadata.deletionTimestamp !== undefined;
  // The cache may be late: before a class is given up the server has the last word.
  return { attributesClass, isUsed: isUsed || (isLeaving && (await isUsedOnServer(client, key.name, signal))) };
}

async function isUsedOnServer(client: KubernetesClient, name: string, signal: AbortSignal): Promise<boolean> {
  const claims = await client.list(PersistentVolumeClaim, { signal });
  if (claims.items.some((claim) => namesOf(claim).includes(name))) return true;
  const volumes = await client.list(PersistentVolume, { signal });
  return volumes.items.some((volume) => namesOf(volume).includes(name));
}

/** The classes that a claim wants, has and gets; the one that a volume has. */
function namesOf(user: PersistentVolume | PersistentVolumeClaim): (string | undefined)[] {
  const { volumeAttributesClassName } = user.spec;
  const { currentVolumeAttributesClassName, modifyVolumeStatus } = (user as PersistentVolumeClaim).status ?? {};
  return [
    volumeAttributesClassName,
    currentVolumeAttributesClassName,
    modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
}
