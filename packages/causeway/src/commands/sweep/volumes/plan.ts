import type { Observed } from "./gather.ts";

/** An object in the cloud whose object in the cluster is gone. */
export interface OrphanVolume {
  readonly kind: "attachment" | "snapshot" | "backup" | "volume";
  readonly name: string;
  readonly id: string;
  /** "namespace/name" of the claim or VolumeSnapshot that it was made for, as its metadata has them. */
  readonly claim: string;
  /** Why it remains. */
  readonly kept?: string;
}

const CLUSTER = "cinder.csi.openstack.org/cluster";
const DESCRIPTION = "Created by OpenStack Cinder CSI driver";
/** How old (ms) an object is at least before it is an orphan. */
const SETTLED = 600_000;

type Texts = Readonly<Record<string, string>>;

interface Created {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly metadata?: Texts | undefined;
  readonly created_at?: string | undefined;
}

/**
 * What of this cluster's driver has no object in the cluster. Only what has the cluster's name in its metadata and the
 * driver's description is its own. Copies come before the volumes that they are of. A volume that is attached to a
 * server is kept: its file system may be in use.
 */
export function planVolumes(observed: Observed, cluster: string, now: number): readonly OrphanVolume[] {
  const { volumes, snapshots, backups, named, uids, servers } = observed;
  const isOrphan = (each: Created) =>
    each.metadata?.[CLUSTER] === cluster &&
    each.description === DESCRIPTION &&
    !named.has(each.id) &&
    !uids.has(uidOf(each.name)) &&
    now - Date.parse(`${each.created_at}Z`) >= SETTLED;
  const copies = (kind: "snapshot" | "backup", all: readonly Created[]) =>
    all.filter(isOrphan).map((each): OrphanVolume => ({ ...orphan(kind, each), claim: requestOf(each.metadata) }));
  return [
    ...orphanedAttachments(observed, cluster),
    ...copies("backup", backups),
    ...copies("snapshot", snapshots),
    ...volumes.filter(isOrphan).map((each): OrphanVolume => {
      const server = each.attachments.find(({ server_id }) => servers.has(server_id))?.server_id;
      const kept = server === undefined ? {} : { kept: `it is attached to server ${server}` };
      return { ...orphan("volume", each), claim: claimOf(each.metadata), ...kept };
    }),
  ];
}

/** Attachments of the cluster's volumes to servers that are gone, which nothing else ends. */
function orphanedAttachments({ volumes, attachments, servers }: Observed, cluster: string): readonly OrphanVolume[] {
  const own = new Map(volumes.filter(({ metadata }) => metadata[CLUSTER] === cluster).map((each) => [each.id, each]));
  return attachments.flatMap(({ id, volume_id, instance }) => {
    const volume = own.get(volume_id);
    if (!volume || !instance || servers.has(instance)) return [];
    return [
      {
        kind: "attachment" as const,
        name: `${volume.name} to server ${instance}`,
        id,
        claim: claimOf(volume.metadata),
      },
    ];
  });
}

const orphan = <K extends OrphanVolume["kind"]>(kind: K, { id, name }: Created) => ({ kind, id, name: name ?? "" });

/** Of "pvc-UID" and "snapshot-UID". */
const uidOf = (name: string | null): string => /^(?:pvc|snapshot)-(.+)$/.exec(name ?? "")?.[1] ?? "";

const claimOf = (metadata: Texts | undefined): string => text(metadata, "csi.storage.k8s.io/pvc");
const requestOf = (metadata: Texts | undefined): string => text(metadata, "csi.storage.k8s.io/volumesnapshot");

function text(metadata: Texts | undefined, prefix: string): string {
  const [namespace, name] = [metadata?.[`${prefix}/namespace`], metadata?.[`${prefix}/name`]];
  return namespace === undefined || name === undefined ? "unknown" : `${namespace}/${name}`;
}
