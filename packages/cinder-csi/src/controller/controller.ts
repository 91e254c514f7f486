import { CausewayError, silentLog, systemClock, type Clock, type Log } from "@causeway/foundation";
import { Operations, required, type CallContext, type ControllerImpl, type CreateVolumeRequest } from "@causeway/csi";
import { bytesOf, CLAIM_NAME, CLAIM_NAMESPACE, gibOf, isUuid, pick } from "@causeway/csi-openstack";
import type { Volume } from "@causeway/openstack";
import type { Clouds, StorageCloud } from "../clouds.ts";
import {
  ANNOTATION_AFFINITY,
  ANNOTATION_ANTI_AFFINITY,
  METADATA_CLUSTER,
  PUBLISH_DEVICE,
  SNAPSHOTTER_METADATA,
  TOPOLOGY_ZONE,
} from "../names.ts";
import { attach, detach } from "./attachment.ts";
import { CapacityReads } from "./capacity-reads.ts";
import { CONTROLLER_CAPABILITIES, isSharable, unsupported } from "./capabilities.ts";
import { attributesOf, expandVolume, found, modifyVolume } from "./change-volume.ts";
import { createVolume } from "./create-volume.ts";
import { deleteVolume } from "./delete-volume.ts";
import { resolveVolumes } from "./hints.ts";
import { listVolumes } from "./list-volumes.ts";
import { planCapacity } from "./plan-capacity.ts";
import type { SnapshotResult } from "./plan-snapshot.ts";
import { SnapshotReads } from "./snapshot-reads.ts";
import { createSnapshot, deleteSnapshot, listSnapshots, type SnapshotSpec } from "./snapshots.ts";
import { conditionOf, createdVolume, snapshotMessage, volumeMessage } from "./messages.ts";
import { volumeReads } from "./volume-reads.ts";
import { volumeSpec } from "./volume-spec.ts";

/** The cloud, and what volumes of this cluster are marked with. */
export interface ControllerOptions {
  readonly clouds: Clouds;
  /** Recorded in the metadata of everything that is created. */
  readonly clusterId?: string;
  readonly withTopology?: boolean;
  /** The annotations of a PersistentVolumeClaim (--pvc-annotations). */
  readonly claimAnnotations?: (namespace: string, name: string) => Promise<Readonly<Record<string, string>>>;
  readonly clock?: Clock;
  readonly log?: Log;
}

/** The controller service: volumes, attachments and snapshots in OpenStack. */
export function createController(options: ControllerOptions): ControllerImpl {
  return { ...volumeCalls(options), ...attachmentCalls(options), ...snapshotCalls(options) };
}

interface Shared {
  readonly clock: Clock;
  readonly log: Log;
}

const shared = ({ clock = systemClock, log = silentLog }: ControllerOptions): Shared => ({ clock, log });

/** What each cloud has one of. */
function forEach<T>({ all }: Clouds, create: (storage: StorageCloud) => T): (storage: StorageCloud) => T {
  const made = new Map(all.map((storage) => [storage, create(storage)]));
  return (storage) => made.get(storage) ?? create(storage);
}

function volumeCalls(options: ControllerOptions): ControllerImpl {
  const { clouds, clusterId = "", withTopology = true } = options;
  const parts = shared(options);
  const operations = new Operations();
  const capacityOf = forEach(clouds, (storage) => new CapacityReads(storage, parts.clock));
  const readsOf = forEach(clouds, (storage) => volumeReads(storage, parts.clock));
  const onVolume = <T>(
    call: { id: string; request: string; signal: AbortSignal },
    work: (signal: AbortSignal) => Promise<T>,
  ) => operations.run({ key: `volume ${call.id}`, request: call.request, signal: call.signal }, work);

  return {
    controllerGetCapabilities: () => ({
      capabilities: CONTROLLER_CAPABILITIES.map((type) => ({ type: { case: "rpc" as const, value: { type } } })),
    }),
    createVolume(request, { signal }) {
      const storage = clouds.of(request.secrets);
      const spec = volumeSpec(request, { clusterId, withTopology });
      const key = { key: `name ${storage.name} ${spec.name}`, request: JSON.stringify(spec), signal };
      return operations.run(key, async (work) => {
        const affinity = await affinityOf(options, storage, request, work);
        const volume = await createVolume({
          ...parts,
          storage,
          reads: readsOf(storage),
          spec,
          hints: affinity,
          signal: work,
        });
        return createdVolume(volume, {
          spec,
          request,
          withTopology,
          affinity,
          ignoreZone: storage.options.ignoreVolumeAz === true,
        });
      });
    },
    async deleteVolume(request, { signal }) {
      const storage = clouds.of(request.secrets);
      const id = required(request.volumeId, "volume ID");
      await onVolume({ id, request: "delete", signal }, (work) => deleteVolume({ ...parts, storage }, id, work));
      return {};
    },
    async controllerExpandVolume(request, { signal }) {
      const storage = clouds.of(request.secrets);
      const id = required(request.volumeId, "volume ID");
      if (!request.capacityRange) throw new CausewayError("CSI_INVALID_ARGUMENT", "The request has no capacity range.");
      const gib = gibOf(request.capacityRange);
      const volume = await onVolume({ id, request: `expand ${gib}`, signal }, (work) =>
        expandVolume({ ...parts, storage, id, signal: work }, gib),
      );
      const isBlock = request.volumeCapability?.accessType.case === "block";
      return { capacityBytes: bytesOf(volume.size), nodeExpansionRequired: !isBlock };
    },
    async controllerModifyVolume(request, { signal }) {
      const storage = clouds.of(request.secrets);
      const id = required(request.volumeId, "volume ID");
      const attributes = attributesOf(request.mutableParameters);
      await onVolume({ id, request: `modify ${JSON.stringify(attributes)}`, signal }, (work) =>
        modifyVolume({ ...parts, storage, id, signal: work }, attributes),
      );
      return {};
    },
    async validateVolumeCapabilities(request, { signal }) {
      const storage = clouds.of(request.secrets);
      const id = required(request.volumeId, "volume ID");
      if (request.volumeCapabilities.length === 0) {
        throw new CausewayError("CSI_INVALID_ARGUMENT", "The request has no volume capabilities.");
      }
      const { multiattach = false } = await found({ storage, id, signal });
      const refused = request.volumeCapabilities
        .map((each) => unsupported(each, multiattach))
        .find((why) => why !== undefined);
      if (refused !== undefined)
        return { message: `Volume ${id} does not support a requested capability: ${refused}.` };
      const { volumeContext, volumeCapabilities, parameters, mutableParameters } = request;
      return { confirmed: { volumeContext, volumeCapabilities, parameters, mutableParameters } };
    },
    async getCapacity(request) {
      const storage = clouds.of({});
      const { limits, backends } = await capacityOf(storage).read();
      const zone = request.accessibleTopology?.segments[TOPOLOGY_ZONE] ?? "";
      const { type = "", availability = "" } = request.parameters;
      if (request.volumeCapabilities.some((each) => unsupported(each, true) !== undefined))
        return { availableCapacity: 0n };
      const searched = availability || (withTopology && storage.options.ignoreVolumeAz !== true ? zone : "");
      return planCapacity({ limits, backends, type, zone: searched });
    },
    async listVolumes(request, { signal }) {
      if (request.maxEntries < 0) throw new CausewayError("CSI_INVALID_ARGUMENT", "max_entries is negative.");
      const { startingToken: token, maxEntries: most } = request;
      const page = await listVolumes(clouds, { token, most, signal, clock: parts.clock });
      return {
        entries: page.volumes.map((each) => ({ volume: volumeMessage(each), status: conditionOf(each) })),
        nextToken: page.next,
      };
    },
    async controllerGetVolume(request, { signal }) {
      const volume = await anywhere(clouds, required(request.volumeId, "volume ID"), signal);
      return { volume: volumeMessage(volume), status: conditionOf(volume) };
    },
  };
}

function attachmentCalls(options: ControllerOptions): ControllerImpl {
  const { clouds } = options;
  const parts = shared(options);
  const operations = new Operations();
  const run = (call: { volumeId: string; server: string; request: string }, context: CallContext) => ({
    key: `volume ${call.volumeId} on ${call.server}`,
    request: call.request,
    signal: context.signal,
  });
  return {
    async controllerPublishVolume(request, context) {
      const storage = clouds.of(request.secrets);
      const volumeId = required(request.volumeId, "volume ID");
      const server = required(request.nodeId, "node ID");
      const { volumeCapability } = request;
      if (!volumeCapability) throw new CausewayError("CSI_INVALID_ARGUMENT", "The request has no volume capability.");
      const sharable = isSharable(volumeCapability);
      const device = await operations.run(run({ volumeId, server, request: "publish" }, context), (signal) =>
        attach({ ...parts, storage, volumeId, server, sharable, signal }),
      );
      return { publishContext: { [PUBLISH_DEVICE]: device } };
    },
    async controllerUnpublishVolume(request, context) {
      const storage = clouds.of(request.secrets);
      const volumeId = required(request.volumeId, "volume ID");
      const server = request.nodeId;
      await operations.run(run({ volumeId, server, request: "unpublish" }, context), (signal) =>
        detach({ ...parts, storage, volumeId, server, sharable: false, signal }),
      );
      return {};
    },
  };
}

function snapshotCalls(options: ControllerOptions): ControllerImpl {
  const { clouds, clusterId = "" } = options;
  const parts = shared(options);
  const operations = new Operations();
  const readsOf = forEach(clouds, (storage) => new SnapshotReads(storage, parts.clock));
  return {
    async createSnapshot(request, { signal }) {
      const storage = clouds.of(request.secrets);
      const spec = snapshotSpec(request, clusterId);
      const key = { key: `name ${storage.name} ${spec.name}`, request: JSON.stringify(spec), signal };
      const result: SnapshotResult = await operations.run(key, (work) =>
        createSnapshot({ ...parts, storage, reads: readsOf(storage), signal: work }, spec),
      );
      return { snapshot: snapshotMessage(result) };
    },
    async deleteSnapshot(request, { signal }) {
      const storage = clouds.of(request.secrets);
      const id = required(request.snapshotId, "snapshot ID");
      await operations.run({ key: id, request: "delete", signal }, (work) =>
        deleteSnapshot({ ...parts, storage, reads: readsOf(storage), signal: work }, id),
      );
      return {};
    },
    async getSnapshot(request, { signal }) {
      const storage = clouds.of(request.secrets);
      const snapshotId = required(request.snapshotId, "snapshot ID");
      const query = { snapshotId, volumeId: "", after: "", most: 1 };
      const [entry] = (await listSnapshots({ storage, signal }, query)).entries;
      if (!entry) throw new CausewayError("CSI_NOT_FOUND", `There is no snapshot or backup ${snapshotId}.`);
      return { snapshot: snapshotMessage(entry) };
    },
    async listSnapshots(request, { signal }) {
      const storage = clouds.of(request.secrets);
      if (request.maxEntries < 0) throw new CausewayError("CSI_INVALID_ARGUMENT", "max_entries is negative.");
      if (request.startingToken !== "" && !isUuid(request.startingToken))
        throw new CausewayError("CSI_ABORTED", "The token of the next page is not valid; begin with the first page.");
      const query = {
        snapshotId: request.snapshotId,
        volumeId: request.sourceVolumeId,
        after: request.startingToken,
        most: request.maxEntries,
      };
      const { entries, next } = await listSnapshots({ storage, signal }, query);
      return { entries: entries.map((each) => ({ snapshot: snapshotMessage(each) })), nextToken: next };
    },
  };
}

function snapshotSpec(
  request: {
    readonly name: string;
    readonly sourceVolumeId: string;
    readonly parameters: Readonly<Record<string, string>>;
  },
  clusterId: string,
): SnapshotSpec {
  const name = required(request.name, "name");
  const volumeId = required(request.sourceVolumeId, "source volume ID");
  const { parameters } = request;
  const kind = parameters["type"] || "snapshot";
  if (kind !== "snapshot" && kind !== "backup") {
    throw new CausewayError(
      "CSI_INVALID_ARGUMENT",
      `The VolumeSnapshotClass has type ${kind}; it must be snapshot or backup.`,
    );
  }
  const most = parameters["backup-max-duration-seconds-per-gb"];
  if (most !== undefined && !/^\d+$/.test(most)) {
    throw new CausewayError("CSI_INVALID_ARGUMENT", "backup-max-duration-seconds-per-gb is not a whole number.");
  }
  return {
    kind,
    name,
    volumeId,
    force: /^(?:1|t|true)$/i.test(parameters["force-create"] ?? ""),
    zone: parameters["availability"] || undefined,
    metadata: { [METADATA_CLUSTER]: clusterId, ...pick(parameters, SNAPSHOTTER_METADATA) },
  };
}

/** IDs of volumes for Cinder's scheduler hints same_host and different_host. */
export interface Affinity {
  readonly sameHost: readonly string[];
  readonly differentHost: readonly string[];
}

/** Of the claim's annotations, which are read for clusters with --pvc-annotations only. */
async function affinityOf(
  { claimAnnotations }: ControllerOptions,
  storage: StorageCloud,
  { parameters }: CreateVolumeRequest,
  signal: AbortSignal,
): Promise<Affinity> {
  const [namespace, name] = [parameters[CLAIM_NAMESPACE], parameters[CLAIM_NAME]];
  if (!claimAnnotations || namespace === undefined || name === undefined) return { sameHost: [], differentHost: [] };
  const annotations = await claimAnnotations(namespace, name);
  return {
    sameHost: await resolveVolumes(storage, annotations[ANNOTATION_AFFINITY] ?? "", signal),
    differentHost: await resolveVolumes(storage, annotations[ANNOTATION_ANTI_AFFINITY] ?? "", signal),
  };
}

async function anywhere(clouds: Clouds, id: string, signal: AbortSignal): Promise<Volume> {
  for (const storage of clouds.all) {
    const volume = await storage.cloud.blockStorage.volumes.find(id, { signal });
    if (volume) return volume;
  }
  throw new CausewayError("CSI_NOT_FOUND", `Volume ${id} does not exist.`);
}
