import type { CallOptions, Cloud } from "@causeway/openstack";
import {
  isNotFound,
  PersistentVolume,
  VolumeAttachment,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";

/** What of a cluster's volumes does not fit what the cloud has. Each entry names one object. */
export interface VolumeFacts {
  /** PersistentVolumes of Cinder. */
  readonly known: number;
  /** PersistentVolumes whose volume is not in the project. */
  readonly missing: readonly string[];
  /** Volumes that this cluster's driver created, without a PersistentVolume. */
  readonly orphans: readonly string[];
  /** Snapshots and backups of this cluster's driver, without a VolumeSnapshotContent. */
  readonly orphanSnapshots: readonly string[];
  /** Attachments in the cloud of this cluster's volumes, without a VolumeAttachment. */
  readonly strayAttachments: readonly string[];
}

const DRIVER = "cinder.csi.openstack.org";
const CLUSTER = `${DRIVER}/cluster`;
/** How old (ms) an object is at least before it is an orphan: its claim may just be in the making. */
const SETTLED = 600_000;

interface SnapshotContent extends KubeObject {
  readonly status?: { readonly snapshotHandle?: string };
  readonly spec: { readonly source?: { readonly snapshotHandle?: string } };
}
const VolumeSnapshotContent: ResourceType<SnapshotContent> = {
  group: "snapshot.storage.k8s.io",
  version: "v1",
  kind: "VolumeSnapshotContent",
  plural: "volumesnapshotcontents",
  namespaced: false,
};

interface Created {
  readonly id: string;
  readonly metadata?: Readonly<Record<string, string>> | null;
  readonly created_at?: string;
}

/**
 * Reads only. Whose a volume is, is known by the cluster name that the volumes of this cluster's PersistentVolumes
 * have.
 */
export async function volumeFacts(
  client: KubernetesClient,
  cloud: Cloud,
  { now, ...call }: CallOptions & { readonly now: number },
): Promise<VolumeFacts> {
  const handles = new Map<string, string>();
  for (const { metadata, spec } of (await client.list(PersistentVolume, call)).items) {
    const id = spec.csi?.driver === DRIVER ? spec.csi.volumeHandle : spec.cinder?.volumeID;
    if (id !== undefined) handles.set(id, metadata.name);
  }
  const none = { missing: [], orphans: [], orphanSnapshots: [], strayAttachments: [] };
  if (handles.size === 0) return { known: 0, ...none };
  const volumes = await cloud.blockStorage.volumes.all({}, call);
  const ids = new Set(volumes.map(({ id }) => id));
  const clusters = new Set(volumes.flatMap(({ id, metadata }) => (handles.has(id) ? (metadata[CLUSTER] ?? []) : [])));
  const isOurs = ({ metadata, created_at = "" }: Created): boolean =>
    clusters.has(metadata?.[CLUSTER] ?? "") && !(now - Date.parse(`${created_at}Z`) < SETTLED);
  const attached = await attachedVolumes(client, call);
  return {
    known: handles.size,
    missing: [...handles].filter(([id]) => !ids.has(id)).map(([id, name]) => `${name} (${id})`),
    orphans: volumes.filter((each) => isOurs(each) && !handles.has(each.id)).map(({ id, name }) => `${name} (${id})`),
    orphanSnapshots: await orphanSnapshots({ client, cloud, isOurs }, call),
    strayAttachments: volumes
      .filter(
        ({ id, attachments }) => handles.has(id) && attachments.length > 0 && !attached.has(handles.get(id) ?? ""),
      )
      .map(({ id, attachments }) => `${handles.get(id)} on server ${attachments[0]?.server_id} (${id})`),
  };
}

/** Names of the PersistentVolumes that VolumeAttachments name. */
async function attachedVolumes(client: KubernetesClient, call: CallOptions): Promise<ReadonlySet<string>> {
  const { items } = await client.list(VolumeAttachment, call);
  return new Set(items.map(({ spec }) => spec.source.persistentVolumeName ?? ""));
}

interface Snapshots {
  readonly client: KubernetesClient;
  readonly cloud: Cloud;
  readonly isOurs: (object: Created) => boolean;
}

async function orphanSnapshots({ client, cloud, isOurs }: Snapshots, call: CallOptions): Promise<string[]> {
  const handles = new Set<string>();
  try {
    for (const { status, spec } of (await client.list(VolumeSnapshotContent, call)).items)
      handles.add(status?.snapshotHandle ?? spec.source?.snapshotHandle ?? "");
  } catch (error) {
    // A cluster without these CRDs has no snapshots.
    if (!isNotFound(error)) throw error;
  }
  const { snapshots, backups } = cloud.blockStorage;
  const all = [
    ...(await snapshots.all({}, call)).map((each) => ({ ...each, kind: "snapshot" })),
    // A cloud without the backup service refuses the list.
    ...(await backups.all({}, call).catch(() => [])).map((each) => ({ ...each, kind: "backup" })),
  ];
  return all
    .filter((each) => isOurs(each) && !handles.has(each.id))
    .map(({ kind, name, id }) => `${kind} ${name} (${id})`);
}
