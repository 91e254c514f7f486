import {
  isNotFound,
  PersistentVolume,
  PersistentVolumeClaim,
  type KubernetesClient,
  type KubeObject,
  type ResourceType,
} from "@causeway/kubernetes";
import { VolumeSnapshot, VolumeSnapshotContent } from "@causeway/csi-sidecars";
import type {
  Attachment,
  CallOptions,
  Cloud,
  Volume,
  VolumeBackup,
  VolumeSnapshot as Snapshot,
} from "@causeway/openstack";

/** What a sweep of volumes is planned from. */
export interface Observed {
  readonly volumes: readonly Volume[];
  readonly snapshots: readonly Snapshot[];
  readonly backups: readonly VolumeBackup[];
  readonly attachments: readonly Attachment[];
  /** IDs of the project's servers. */
  readonly servers: ReadonlySet<string>;
  /** IDs of volumes, snapshots and backups that objects of the cluster name. */
  readonly named: ReadonlySet<string>;
  /** uids of claims and VolumeSnapshots, for which something may just be in the making. */
  readonly uids: ReadonlySet<string>;
}

const DRIVER = "cinder.csi.openstack.org";

/** Reads the cloud first and the cluster after it: what is made meanwhile is among the cluster's objects. */
export async function gatherVolumes(client: KubernetesClient, cloud: Cloud, call: CallOptions): Promise<Observed> {
  const { blockStorage, compute } = cloud;
  const [volumes, snapshots, backups, attachments, servers] = await Promise.all([
    blockStorage.volumes.all({}, call),
    blockStorage.snapshots.all({}, call),
    // A cloud without the backup service refuses the list.
    blockStorage.backups.all({}, call).catch(() => []),
    blockStorage.attachments.all({}, call),
    compute.servers.all({}, call),
  ]);
  const [persistent, claims, contents, requested] = [
    (await client.list(PersistentVolume, call)).items,
    (await client.list(PersistentVolumeClaim, call)).items,
    await listed(client, VolumeSnapshotContent, call),
    await listed(client, VolumeSnapshot, call),
  ];
  const named = [
    ...persistent.flatMap(({ spec }) => [
      spec.csi?.driver === DRIVER ? spec.csi.volumeHandle : undefined,
      spec.cinder?.volumeID,
    ]),
    ...contents.flatMap(({ spec, status }) => [status?.snapshotHandle, spec.source.snapshotHandle]),
  ];
  return {
    volumes,
    snapshots,
    backups,
    attachments,
    servers: new Set(servers.map(({ id }) => id)),
    named: new Set(named.filter((id) => id !== undefined)),
    uids: new Set([...claims, ...requested].map(({ metadata }) => metadata.uid ?? "")),
  };
}

/** A cluster without the CRDs has none. */
async function listed<T extends KubeObject>(client: KubernetesClient, type: ResourceType<T>, call: CallOptions) {
  try {
    return (await client.list(type, call)).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
