import type {
  Informer,
  ObjectKey,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeAttributesClass,
} from "@causeway/kubernetes";
import type { SidecarDriver } from "../context.ts";
import { annotation } from "../names.ts";
import { volumeOf } from "../volume.ts";
import type { CreateRequest } from "./steps.ts";
import { topologyOf, type TopologyCaches, type TopologyResult } from "./topology.ts";

/** Where the content of a claim's volume comes from. */
export type ContentSource =
  | { readonly type: "empty" }
  | { readonly type: "snapshot"; readonly snapshotId: string }
  | { readonly type: "volume"; readonly volumeId: string }
  | { readonly type: "waiting"; readonly why: string }
  | { readonly type: "other"; readonly why: string };

/** The parameters of a claim's VolumeAttributesClass; "none": it names no class. */
export type AttributesResult =
  | { readonly type: "none" }
  | { readonly type: "waiting"; readonly why: string }
  | { readonly type: "known"; readonly name: string; readonly parameters: Readonly<Record<string, string>> };

/** What the plan of a claim reads. */
export interface Observed {
  readonly driver: SidecarDriver;
  readonly claim: PersistentVolumeClaim | undefined;
  readonly storageClass: StorageClass | undefined;
  /** The PersistentVolume of the claim's uid. */
  readonly volume: PersistentVolume | undefined;
  readonly source: ContentSource;
  /** Of the claim's VolumeAttributesClass. */
  readonly attributes: AttributesResult;
  readonly topology: TopologyResult;
  /** A request for this claim, or for one of its name before, that may have created a volume. */
  readonly pending: CreateRequest | undefined;
}

/** The informers that a claim is gathered from, and requests of this process whose outcome is not known. */
export interface Caches extends TopologyCaches {
  readonly driver: SidecarDriver;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly storageClasses: Informer<StorageClass>;
  readonly pending: Map<string, CreateRequest>;
  readonly attributesClass: (name: string, signal: AbortSignal) => Promise<VolumeAttributesClass | undefined>;
  /** The handle of a VolumeSnapshot; a text says why there is none. */
  readonly snapshotHandle: (key: ObjectKey, signal: AbortSignal) => Promise<{ readonly id: string } | string>;
}

/** The name of a claim's PersistentVolume, as csi-provisioner's: no two claims ever have the same. */
export const volumeName = ({ metadata }: PersistentVolumeClaim): string => `pvc-${metadata.uid}`;
/** The key of `Caches.pending` for a claim. */
export const pendingKey = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`;

/** Reads a claim and what its volume is made of; undefined: it is gone, and no request for it is open. */
export async function gather(caches: Caches, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const { driver, claims, volumes, storageClasses, pending } = caches;
  const claim = claims.get(key);
  const request = pending.get(pendingKey(key));
  if (!claim && !request) return undefined;
  const found = storageClasses.get({ namespace: "", name: claim?.spec.storageClassName ?? "" });
  const { migration } = driver;
  const storageClass = found && migration?.provisioner === found.provisioner ? migration.storageClass(found) : found;
  const node = claim?.metadata.annotations?.[annotation.selectedNode];
  return {
    driver,
    claim,
    storageClass,
    volume: claim && volumes.get({ namespace: "", name: volumeName(claim) }),
    source: claim ? await sourceOf(caches, claim, signal) : { type: "empty" },
    attributes: await attributesOf(caches, claim, signal),
    topology:
      driver.withTopology === true && claim && storageClass
        ? topologyOf(caches, { driver: driver.name, storageClass, node, seed: claim.metadata.name })
        : { type: "none" },
    pending: request,
  };
}

async function attributesOf(
  { attributesClass, driver }: Caches,
  claim: PersistentVolumeClaim | undefined,
  signal: AbortSignal,
): Promise<AttributesResult> {
  const name = claim?.spec.volumeAttributesClassName;
  if (!name || claim?.spec.volumeName) return { type: "none" };
  const found = await attributesClass(name, signal);
  if (!found) return { type: "waiting", why: `VolumeAttributesClass ${name} is missing` };
  if (found.driverName !== driver.name) {
    return { type: "waiting", why: `VolumeAttributesClass ${name} is of driver ${found.driverName}` };
  }
  return { type: "known", name, parameters: found.parameters ?? {} };
}

async function sourceOf(
  { claims, volumes, driver, snapshotHandle }: Caches,
  { metadata, spec }: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<ContentSource> {
  const source = spec.dataSourceRef ?? spec.dataSource;
  if (!source) return { type: "empty" };
  const namespace = metadata.namespace ?? "";
  if (source.namespace && source.namespace !== namespace) {
    return { type: "other", why: "sources in other namespaces are not supported" };
  }
  if (source.apiGroup === "snapshot.storage.k8s.io" && source.kind === "VolumeSnapshot") {
    const handle = await snapshotHandle({ namespace, name: source.name }, signal);
    return typeof handle === "string" ? { type: "waiting", why: handle } : { type: "snapshot", snapshotId: handle.id };
  }
  if (!source.apiGroup && source.kind === "PersistentVolumeClaim") {
    const origin = claims.get({ namespace, name: source.name });
    const bound = volumeOf(driver, volumes.get({ namespace: "", name: origin?.spec.volumeName ?? "" }));
    if (!bound || origin?.status?.phase !== "Bound")
      return { type: "waiting", why: `claim ${source.name} is not bound` };
    return { type: "volume", volumeId: bound.csi.volumeHandle };
  }
  return { type: "other", why: `${source.kind} is filled by another program` };
}
