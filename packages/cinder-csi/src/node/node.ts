import { readdir } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { CausewayError, systemClock, type Clock } from "@causeway/foundation";
import { NodeServiceCapability_RPC_Type as Type, Operations, required, type NodeImpl } from "@causeway/csi";
import { labelValue, type Host, type ServerMetadata } from "@causeway/csi-openstack";
import { TOPOLOGY_ZONE } from "../names.ts";
import { attachLimit } from "./limit.ts";
import { mountPath, unmount } from "./mounts.ts";
import { publish, stage, unstage, type NodeParts } from "./stage.ts";
import { expand, usageOf } from "./usage.ts";

/** The host that volumes are mounted on, and where the server's metadata is. */
export interface NodeOptions {
  readonly host: Host;
  readonly metadata: () => Promise<ServerMetadata>;
  readonly withTopology?: boolean;
  /** Further segments of the node's topology (--additional-topology). */
  readonly topology?: Readonly<Record<string, string>>;
  /** node-volume-attach-limit */
  readonly attachLimit?: number;
  readonly rescanOnResize?: boolean;
  /** The path of a device that has no link with the volume's ID. */
  readonly deviceFallback?: (volumeId: string) => Promise<string | undefined>;
  readonly clock?: Clock;
}

const CAPABILITIES: readonly Type[] = [
  Type.STAGE_UNSTAGE_VOLUME,
  Type.EXPAND_VOLUME,
  Type.GET_VOLUME_STATS,
  Type.SINGLE_NODE_MULTI_WRITER,
];

/** The node service: devices, file systems and mounts of one server. It needs no credentials. */
export function createNode(options: NodeOptions): NodeImpl {
  const { host, clock = systemClock, deviceFallback: fallback } = options;
  const parts: NodeParts = { host, clock, ...(fallback && { fallback }) };
  const operations = new Operations();
  const on = <T>(id: string, request: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>) =>
    operations.run({ key: `volume ${id}`, request, signal }, work);
  return {
    nodeGetCapabilities: () => ({
      capabilities: CAPABILITIES.map((type) => ({ type: { case: "rpc" as const, value: { type } } })),
    }),
    nodeGetInfo: () => infoOf(options),
    async nodeStageVolume(request, { signal }) {
      const volumeId = required(request.volumeId, "volume ID");
      const path = mountPath(request.stagingTargetPath, "staging target path");
      const { volumeCapability: capability, volumeContext: context } = request;
      if (!capability) throw new CausewayError("CSI_INVALID_ARGUMENT", "The request has no volume capability.");
      await on(volumeId, `stage ${path}`, signal, (work) =>
        stage(parts, { volumeId, path, capability, context, signal: work }),
      );
      return {};
    },
    async nodeUnstageVolume(request, { signal }) {
      const volumeId = required(request.volumeId, "volume ID");
      const path = mountPath(request.stagingTargetPath, "staging target path");
      await on(volumeId, `unstage ${path}`, signal, () => unstage(host, path));
      return {};
    },
    async nodePublishVolume(request, { signal }) {
      const volumeId = required(request.volumeId, "volume ID");
      const target = mountPath(request.targetPath, "target path");
      const { volumeCapability: capability, readonly: readOnly } = request;
      if (!capability) throw new CausewayError("CSI_INVALID_ARGUMENT", "The request has no volume capability.");
      if (request.volumeContext["csi.storage.k8s.io/ephemeral"] === "true") {
        throw new CausewayError(
          "CSI_UNIMPLEMENTED",
          "Inline ephemeral volumes are not supported; use a generic ephemeral volume.",
        );
      }
      const staging = mountPath(request.stagingTargetPath, "staging target path");
      await on(volumeId, `publish ${target}`, signal, (work) =>
        publish(parts, { volumeId, staging, target, capability, readOnly, signal: work }),
      );
      return {};
    },
    async nodeUnpublishVolume(request, { signal }) {
      const volumeId = required(request.volumeId, "volume ID");
      const target = mountPath(request.targetPath, "target path");
      await on(volumeId, `unpublish ${target}`, signal, () => unmount(host, target));
      return {};
    },
    async nodeGetVolumeStats(request) {
      required(request.volumeId, "volume ID");
      return { usage: [...(await usageOf(host, volumePath(request.volumePath)))] };
    },
    async nodeExpandVolume(request, { signal }) {
      const volumeId = required(request.volumeId, "volume ID");
      const path = volumePath(request.volumePath);
      const bytes = request.capacityRange?.requiredBytes ?? 0n;
      const rescan = options.rescanOnResize === true;
      await on(volumeId, `expand ${path}`, signal, () => expand(host, path, { rescan, bytes }));
      return { capacityBytes: bytes };
    },
  };
}

/** A path that no volume can have is not found, as the specification has it. */
function volumePath(text: string): string {
  if (text !== "" && !isAbsolute(text)) throw new CausewayError("CSI_NOT_FOUND", `There is no volume at ${text}.`);
  return mountPath(text, "volume path");
}

async function infoOf({ host, metadata, withTopology = true, topology = {}, attachLimit: limit }: NodeOptions) {
  const { uuid, zone } = await metadata();
  const disks = await readdir(join(host.sys, "block")).catch(() => []);
  const info = { nodeId: uuid, maxVolumesPerNode: BigInt(attachLimit(limit, disks)) };
  if (!withTopology) return info;
  return { ...info, accessibleTopology: { segments: { [TOPOLOGY_ZONE]: labelValue(zone), ...topology } } };
}
