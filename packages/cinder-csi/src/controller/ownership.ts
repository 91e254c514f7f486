import { CausewayError, hasCode } from "@causeway/foundation";
import type { ControllerImpl, CreateVolumeRequest, GroupControllerImpl } from "@causeway/csi";
import type { Clouds, StorageCloud } from "../clouds.ts";
import { METADATA_CLUSTER } from "../names.ts";

/** Of which cluster a controller is, where several clusters share a project and their users write PersistentVolumes. */
export interface Ownership {
  readonly clouds: Clouds;
  /** In the metadata of everything that the cluster's driver creates. */
  readonly cluster: string;
  /** Whether the cluster has the server. */
  readonly hasServer: (id: string) => boolean;
}

type Secrets = Readonly<Record<string, string>>;
type Named = { readonly secrets: Secrets };

/**
 * The controller's calls for volumes, snapshots and servers of one cluster. An object without the cluster's name in its
 * metadata is refused: the users of a cluster can name any ID in a PersistentVolume, a VolumeSnapshotContent or a
 * CSINode.
 */
export function onlyOwn(controller: ControllerImpl, owner: Ownership): ControllerImpl {
  const checks = new Checks(owner);
  const { createVolume, deleteVolume, controllerPublishVolume, controllerUnpublishVolume } = controller;
  const { controllerExpandVolume, controllerModifyVolume, createSnapshot, deleteSnapshot, listSnapshots } = controller;
  const { getCapacity } = controller;
  return {
    // What the project has left is no object of a cluster.
    ...(getCapacity && { getCapacity }),
    ...(createVolume && {
      async createVolume(request, context) {
        await checks.source(request, context.signal);
        const result = await createVolume(request, context);
        // The name is a uid, which a restored cluster may have from another.
        await checks.volume({ id: result.volume?.volumeId ?? "", ...request }, context.signal);
        return result;
      },
    }),
    ...(deleteVolume && {
      async deleteVolume(request, context) {
        await checks.volume({ id: request.volumeId, ...request }, context.signal);
        return deleteVolume(request, context);
      },
    }),
    ...(controllerPublishVolume && {
      async controllerPublishVolume(request, context) {
        await checks.volume({ id: request.volumeId, ...request }, context.signal);
        checks.server(request.nodeId);
        return controllerPublishVolume(request, context);
      },
    }),
    ...(controllerUnpublishVolume && {
      // The server may be gone from the cluster: whose the volume is decides.
      async controllerUnpublishVolume(request, context) {
        await checks.volume({ id: request.volumeId, ...request }, context.signal);
        return controllerUnpublishVolume(request, context);
      },
    }),
    ...(controllerExpandVolume && {
      async controllerExpandVolume(request, context) {
        await checks.volume({ id: request.volumeId, ...request }, context.signal);
        return controllerExpandVolume(request, context);
      },
    }),
    ...(controllerModifyVolume && {
      async controllerModifyVolume(request, context) {
        await checks.volume({ id: request.volumeId, ...request }, context.signal);
        return controllerModifyVolume(request, context);
      },
    }),
    ...(createSnapshot && {
      async createSnapshot(request, context) {
        await checks.volume({ id: request.sourceVolumeId, ...request }, context.signal);
        return createSnapshot(request, context);
      },
    }),
    ...(deleteSnapshot && {
      async deleteSnapshot(request, context) {
        await checks.snapshot({ id: request.snapshotId, ...request }, context.signal);
        return deleteSnapshot(request, context);
      },
    }),
    ...(listSnapshots && {
      async listSnapshots(request, context) {
        if (request.snapshotId === "") throw new CausewayError("CSI_UNIMPLEMENTED", "Snapshots are read by their IDs.");
        await checks.snapshot({ id: request.snapshotId, ...request }, context.signal);
        return listSnapshots(request, context);
      },
    }),
  };
}

/** The same for snapshots of several volumes: a group snapshot is the cluster's if each of its members is. */
export function onlyOwnGroups(controller: GroupControllerImpl, owner: Ownership): GroupControllerImpl {
  const checks = new Checks(owner);
  const { createVolumeGroupSnapshot, deleteVolumeGroupSnapshot, getVolumeGroupSnapshot } = controller;
  const read: NonNullable<typeof getVolumeGroupSnapshot> = async (request, context) => {
    if (!getVolumeGroupSnapshot) throw new CausewayError("CSI_UNIMPLEMENTED", "There are no group snapshots.");
    const result = await getVolumeGroupSnapshot(request, context);
    for (const { snapshotId = "" } of result.groupSnapshot?.snapshots ?? [])
      await checks.snapshot({ id: snapshotId, ...request }, context.signal);
    return result;
  };
  return {
    ...(createVolumeGroupSnapshot && {
      async createVolumeGroupSnapshot(request, context) {
        for (const id of request.sourceVolumeIds) await checks.volume({ id, ...request }, context.signal);
        return createVolumeGroupSnapshot(request, context);
      },
    }),
    ...(deleteVolumeGroupSnapshot && {
      async deleteVolumeGroupSnapshot(request, context) {
        const { groupSnapshotId, secrets } = request;
        const members = { $typeName: "csi.v1.GetVolumeGroupSnapshotRequest", snapshotIds: [] } as const;
        try {
          await read({ ...members, snapshotIds: [], groupSnapshotId, secrets }, context);
        } catch (error) {
          if (!hasCode(error, "CSI_NOT_FOUND")) throw error;
        }
        return deleteVolumeGroupSnapshot(request, context);
      },
    }),
    getVolumeGroupSnapshot: read,
  };
}

class Checks {
  readonly #owner: Ownership;

  constructor(owner: Ownership) {
    this.#owner = owner;
  }

  /** One that does not exist passes: the call itself says so. */
  async volume({ id, secrets }: Named & { readonly id: string }, signal: AbortSignal): Promise<void> {
    const storage = this.#owner.clouds.of(secrets);
    const known = storage.volumes.get(id);
    if (id === "" || (known && this.#isOwn(known.metadata))) return;
    const volume = await storage.cloud.blockStorage.volumes.find(id, { signal });
    if (!volume) return;
    storage.volumes.observe(volume);
    this.#require("volume", id, volume.metadata);
  }

  async snapshot({ id, secrets }: Named & { readonly id: string }, signal: AbortSignal): Promise<void> {
    if (id === "") return;
    const found = await snapshotOrBackup(this.#owner.clouds.of(secrets), id, signal);
    if (found) this.#require(found.kind, id, found.metadata);
  }

  async source({ volumeContentSource, secrets }: CreateVolumeRequest, signal: AbortSignal): Promise<void> {
    const source = volumeContentSource?.type;
    if (source?.case === "volume") await this.volume({ id: source.value.volumeId, secrets }, signal);
    if (source?.case === "snapshot") await this.snapshot({ id: source.value.snapshotId, secrets }, signal);
  }

  server(id: string): void {
    if (id === "" || this.#owner.hasServer(id)) return;
    throw new CausewayError("CSI_PERMISSION_DENIED", `Server ${id} is no machine of cluster ${this.#owner.cluster}.`, {
      hint: "The ID is what the node's driver registered in its CSINode.",
    });
  }

  #isOwn(metadata: Readonly<Record<string, string>> | undefined): boolean {
    return metadata?.[METADATA_CLUSTER] === this.#owner.cluster;
  }

  #require(kind: string, id: string, metadata: Readonly<Record<string, string>> | undefined): void {
    if (this.#isOwn(metadata)) return;
    const { cluster } = this.#owner;
    throw new CausewayError("CSI_PERMISSION_DENIED", `The ${kind} ${id} is not of cluster ${cluster}.`, {
      hint: `If the cluster may use it, set its metadata ${METADATA_CLUSTER} to ${cluster}.`,
    });
  }
}

async function snapshotOrBackup({ cloud }: StorageCloud, id: string, signal: AbortSignal) {
  const { snapshots, backups } = cloud.blockStorage;
  const snapshot = await snapshots.find(id, { signal });
  if (snapshot) return { kind: "snapshot", metadata: snapshot.metadata };
  // A cloud without the backup service refuses the request in one of several ways.
  const backup = await backups.find(id, { signal }).catch(() => undefined);
  return backup && { kind: "backup", metadata: backup.metadata };
}
