import { CausewayError } from "@causeway/foundation";
import { required, type ControllerImpl, type CreateVolumeRequest, type GroupControllerImpl } from "@causeway/csi";
import type { Clouds, StorageCloud } from "../clouds.ts";
import { METADATA_CLUSTER } from "../names.ts";
import { readGroupSnapshot } from "./group-snapshots.ts";

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
 * CSINode. An ID that could not be checked, or was not found, is never given to the controller, which might find it a
 * moment later.
 */
export function onlyOwn(controller: ControllerImpl, owner: Ownership): ControllerImpl {
  const checks = new Checks(owner);
  const { createVolume, deleteVolume, controllerPublishVolume, controllerUnpublishVolume } = controller;
  const { controllerExpandVolume, controllerModifyVolume, createSnapshot, deleteSnapshot, listSnapshots } = controller;
  const { getCapacity } = controller;
  return {
    // What the project has left is not an object of a cluster.
    ...(getCapacity && { getCapacity }),
    ...(createVolume && {
      async createVolume(request, context) {
        await checks.source(request, context.signal);
        const result = await createVolume(request, context);
        // The name is a uid, which a restored cluster may have from another.
        await checks.requireVolume({ id: result.volume?.volumeId ?? "", ...request }, context.signal);
        return result;
      },
    }),
    ...(deleteVolume && {
      async deleteVolume(request, context) {
        const exists = await checks.volume({ id: request.volumeId, ...request }, context.signal);
        return exists ? deleteVolume(request, context) : {};
      },
    }),
    ...(controllerPublishVolume && {
      async controllerPublishVolume(request, context) {
        await checks.requireVolume({ id: request.volumeId, ...request }, context.signal);
        checks.server(request.nodeId);
        return controllerPublishVolume(request, context);
      },
    }),
    ...(controllerUnpublishVolume && {
      // The server may be gone from the cluster: whose the volume is decides.
      async controllerUnpublishVolume(request, context) {
        const exists = await checks.volume({ id: request.volumeId, ...request }, context.signal);
        return exists ? controllerUnpublishVolume(request, context) : {};
      },
    }),
    ...(controllerExpandVolume && {
      async controllerExpandVolume(request, context) {
        await checks.requireVolume({ id: request.volumeId, ...request }, context.signal);
        return controllerExpandVolume(request, context);
      },
    }),
    ...(controllerModifyVolume && {
      async controllerModifyVolume(request, context) {
        await checks.requireVolume({ id: request.volumeId, ...request }, context.signal);
        return controllerModifyVolume(request, context);
      },
    }),
    ...(createSnapshot && {
      async createSnapshot(request, context) {
        await checks.requireVolume({ id: request.sourceVolumeId, ...request }, context.signal);
        return createSnapshot(request, context);
      },
    }),
    ...(deleteSnapshot && {
      async deleteSnapshot(request, context) {
        const exists = await checks.snapshot({ id: request.snapshotId, ...request }, context.signal);
        return exists ? deleteSnapshot(request, context) : {};
      },
    }),
    ...(listSnapshots && {
      async listSnapshots(request, context) {
        if (request.snapshotId === "") throw new CausewayError("CSI_UNIMPLEMENTED", "Snapshots are read by their IDs.");
        const exists = await checks.snapshot({ id: request.snapshotId, ...request }, context.signal);
        return exists ? listSnapshots(request, context) : {};
      },
    }),
  };
}

/**
 * The same for snapshots of several volumes: a group snapshot is the cluster's if it has members and each of them is.
 */
export function onlyOwnGroups(controller: GroupControllerImpl, owner: Ownership): GroupControllerImpl {
  const checks = new Checks(owner);
  const { createVolumeGroupSnapshot, deleteVolumeGroupSnapshot, getVolumeGroupSnapshot } = controller;
  return {
    ...(createVolumeGroupSnapshot && {
      async createVolumeGroupSnapshot(request, context) {
        for (const id of request.sourceVolumeIds) await checks.requireVolume({ id, ...request }, context.signal);
        return createVolumeGroupSnapshot(request, context);
      },
    }),
    ...(deleteVolumeGroupSnapshot && {
      async deleteVolumeGroupSnapshot(request, context) {
        const exists = await checks.groupSnapshot({ id: request.groupSnapshotId, ...request }, context.signal);
        return exists ? deleteVolumeGroupSnapshot(request, context) : {};
      },
    }),
    ...(getVolumeGroupSnapshot && {
      async getVolumeGroupSnapshot(request, context) {
        const id = request.groupSnapshotId;
        if (await checks.groupSnapshot({ id, ...request }, context.signal))
          return getVolumeGroupSnapshot(request, context);
        throw new CausewayError("CSI_NOT_FOUND", `There is no group snapshot ${id}.`);
      },
    }),
  };
}

class Checks {
  readonly #owner: Ownership;

  constructor(owner: Ownership) {
    this.#owner = owner;
  }

  /** False: it does not exist. Throws CSI_PERMISSION_DENIED. */
  async volume({ id, secrets }: Named & { readonly id: string }, signal: AbortSignal): Promise<boolean> {
    const storage = this.#owner.clouds.of(secrets);
    const known = storage.volumes.get(required(id, "volume ID"));
    if (known && this.#isOwn(known.metadata)) return true;
    const volume = await storage.cloud.blockStorage.volumes.find(id, { signal });
    if (!volume) return false;
    storage.volumes.observe(volume);
    this.#require("volume", id, volume.metadata);
    return true;
  }

  /** Throws CSI_NOT_FOUND, too. */
  async requireVolume(named: Named & { readonly id: string }, signal: AbortSignal): Promise<void> {
    if (await this.volume(named, signal)) return;
    throw new CausewayError("CSI_NOT_FOUND", `Volume ${named.id} does not exist.`);
  }

  /** Of a snapshot or backup; false: it does not exist. */
  async snapshot({ id, secrets }: Named & { readonly id: string }, signal: AbortSignal): Promise<boolean> {
    const found = await snapshotOrBackup(this.#owner.clouds.of(secrets), required(id, "snapshot ID"), signal);
    if (found) this.#require(found.kind, id, found.metadata);
    return found !== undefined;
  }

  async groupSnapshot({ id, secrets }: Named & { readonly id: string }, signal: AbortSignal): Promise<boolean> {
    const storage = this.#owner.clouds.of(secrets);
    const found = await readGroupSnapshot({ storage, signal }, required(id, "group snapshot ID"));
    if (!found) return false;
    // Without members nothing shows whose it is.
    if (found.members.length === 0) this.#require("group snapshot", id, undefined);
    for (const member of found.members) this.#require("snapshot", member.id, member.metadata);
    return true;
  }

  async source({ volumeContentSource, secrets }: CreateVolumeRequest, signal: AbortSignal): Promise<void> {
    const source = volumeContentSource?.type;
    if (source?.case === "volume") await this.requireVolume({ id: source.value.volumeId, secrets }, signal);
    if (source?.case !== "snapshot") return;
    const id = source.value.snapshotId;
    if (!(await this.snapshot({ id, secrets }, signal)))
      throw new CausewayError("CSI_NOT_FOUND", `There is no snapshot or backup ${id}.`);
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

/**
 * A backup that cannot be read is not mistaken for one that does not exist: the call would delete it without a check.
 */
async function snapshotOrBackup({ cloud }: StorageCloud, id: string, signal: AbortSignal) {
  const { snapshots, backups } = cloud.blockStorage;
  const snapshot = await snapshots.find(id, { signal });
  if (snapshot) return { kind: "snapshot", metadata: snapshot.metadata };
  const backup = await backups.find(id, { signal });
  return backup && { kind: "backup", metadata: backup.metadata };
}
