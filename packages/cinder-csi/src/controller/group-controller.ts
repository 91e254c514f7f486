import { CausewayError, silentLog, systemClock } from "@causeway/foundation";
import {
  GroupControllerServiceCapability_RPC_Type as Type,
  Operations,
  required,
  type CreateVolumeGroupSnapshotRequest,
  type GroupControllerImpl,
} from "@causeway/csi";
import { pick, timestampOf } from "@causeway/csi-openstack";
import { GROUP_SNAPSHOTTER_METADATA, METADATA_CLUSTER } from "../names.ts";
import type { ControllerOptions } from "./controller.ts";
import { createGroupSnapshot, deleteGroupSnapshot, readGroupSnapshot, requireMembers } from "./group-snapshots.ts";
import { snapshotMessage } from "./messages.ts";
import type { GroupSnapshotResult, GroupSnapshotSpec } from "./plan-group-snapshot.ts";
import { resultOf } from "./plan-snapshot.ts";

/** Of one request: each costs a call. */
const MOST_VOLUMES = 100;
/** An ID of the protocol has 128 bytes at most, and that of independent snapshots contains the name. */
const LONGEST_NAME = 120;

/** The group controller service: snapshots of several volumes. */
export function createGroupController({
  clouds,
  clusterId = "",
  clock = systemClock,
  log = silentLog,
}: Pick<ControllerOptions, "clouds" | "clusterId" | "clock" | "log">): GroupControllerImpl {
  const operations = new Operations();
  const parts = { clock, log };
  return {
    groupControllerGetCapabilities: () => ({
      capabilities: [{ type: { case: "rpc" as const, value: { type: Type.CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT } } }],
    }),
    async createVolumeGroupSnapshot(request, { signal }) {
      const storage = clouds.of(request.secrets);
      const spec = groupSnapshotSpec(request, clusterId);
      const key = { key: `name ${storage.name} ${spec.name}`, request: JSON.stringify(spec), signal };
      const result = await operations.run(key, (work) =>
        createGroupSnapshot({ ...parts, storage, signal: work }, spec),
      );
      return { groupSnapshot: messageOf(result) };
    },
    async deleteVolumeGroupSnapshot(request, { signal }) {
      const storage = clouds.of(request.secrets);
      const id = required(request.groupSnapshotId, "group snapshot ID");
      await operations.run({ key: id, request: "delete", signal }, (work) =>
        deleteGroupSnapshot({ ...parts, storage, signal: work }, id, request.snapshotIds),
      );
      return {};
    },
    async getVolumeGroupSnapshot(request, { signal }) {
      const storage = clouds.of(request.secrets);
      const id = required(request.groupSnapshotId, "group snapshot ID");
      const result = await readGroupSnapshot({ ...parts, storage, signal }, id);
      if (!result) throw new CausewayError("CSI_NOT_FOUND", `There is no group snapshot ${id}.`);
      requireMembers(result, request.snapshotIds);
      return { groupSnapshot: messageOf(result) };
    },
  };
}

/** Throws CSI_INVALID_ARGUMENT. */
function groupSnapshotSpec(
  { name, sourceVolumeIds, parameters }: CreateVolumeGroupSnapshotRequest,
  clusterId: string,
): GroupSnapshotSpec {
  const volumeIds = [...new Set(sourceVolumeIds)].toSorted();
  if (Buffer.byteLength(required(name, "name")) > LONGEST_NAME)
    throw new CausewayError("CSI_INVALID_ARGUMENT", `The name has more than ${LONGEST_NAME} bytes.`);
  if (volumeIds.length === 0 || volumeIds.includes(""))
    throw new CausewayError("CSI_INVALID_ARGUMENT", "The request has no source volume IDs.");
  if (volumeIds.length > MOST_VOLUMES)
    throw new CausewayError("CSI_INVALID_ARGUMENT", `A group snapshot has at most ${MOST_VOLUMES} volumes.`);
  const consistency = parameters["consistency"] || "group";
  if (consistency !== "group" && consistency !== "volume")
    throw new CausewayError(
      "CSI_INVALID_ARGUMENT",
      `The VolumeGroupSnapshotClass has consistency ${consistency}; it must be group or volume.`,
    );
  return {
    name,
    volumeIds,
    consistency,
    groupType: parameters["group-type"] || undefined,
    force: /^(?:1|t|true)$/i.test(parameters["force-create"] ?? ""),
    metadata: { [METADATA_CLUSTER]: clusterId, ...pick(parameters, GROUP_SNAPSHOTTER_METADATA) },
  };
}

const messageOf = ({ id, createdAt, ready, members }: GroupSnapshotResult) => ({
  groupSnapshotId: id,
  creationTime: timestampOf(createdAt),
  readyToUse: ready,
  snapshots: members.map((each) => ({
    ...snapshotMessage(resultOf(each, each.status === "available")),
    groupSnapshotId: id,
  })),
});
