import { lstatSync, mkdirSync, rmSync } from "node:fs";
import {
  NodeServiceCapability_RPC_Type as Type,
  serveCsi,
  VolumeUsage_Unit as Unit,
  type CsiServer,
  type NodeImpl,
} from "@causeway/csi";
import { CausewayError } from "@causeway/foundation";

/** One call that the stand-in received, without the fields that every call has. */
export interface RecordedCall {
  readonly method: "stage" | "unstage" | "publish" | "unpublish";
  readonly volumeId: string;
  readonly path: string;
  readonly context: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
}

export interface RecordingDriver {
  readonly calls: readonly RecordedCall[];
  close(): Promise<void>;
}

export interface RecordingOptions {
  readonly endpoint: string;
  /** Whether volumes are staged, as ceph-csi does; csi-driver-nfs publishes only. */
  readonly stages: boolean;
}

/**
 * In place of csi-driver-nfs or ceph-csi, whose kernel clients a test does not have: records what it receives, and
 * creates a folder where the real ones mount.
 */
export async function startRecordingDriver({ endpoint, stages }: RecordingOptions): Promise<RecordingDriver> {
  const calls: RecordedCall[] = [];
  const server: CsiServer = await serveCsi({
    endpoint,
    identity: {
      getPluginInfo: () => ({ name: "recording.csi", vendorVersion: "1" }),
      probe: () => ({ ready: true }),
    },
    node: nodeOf(calls, stages),
  });
  return { calls, close: () => server.close() };
}

function nodeOf(calls: RecordedCall[], stages: boolean): NodeImpl {
  const types = [...(stages ? [Type.STAGE_UNSTAGE_VOLUME] : []), Type.GET_VOLUME_STATS];
  const mount = (path: string) => void mkdirSync(path, { recursive: true });
  return {
    nodeGetCapabilities: () => ({ capabilities: types.map((type) => ({ type: { case: "rpc", value: { type } } })) }),
    nodeStageVolume({ volumeId, stagingTargetPath: path, volumeContext: context, secrets }) {
      calls.push({ method: "stage", volumeId, path, context, secrets });
      mount(path);
      return {};
    },
    nodeUnstageVolume({ volumeId, stagingTargetPath: path }) {
      calls.push({ method: "unstage", volumeId, path, context: {}, secrets: {} });
      return {};
    },
    nodePublishVolume({ volumeId, targetPath: path, volumeContext: context, secrets }) {
      calls.push({ method: "publish", volumeId, path, context, secrets });
      mount(path);
      return {};
    },
    nodeUnpublishVolume({ volumeId, targetPath: path }) {
      calls.push({ method: "unpublish", volumeId, path, context: {}, secrets: {} });
      rmSync(path, { recursive: true, force: true });
      return {};
    },
    nodeGetVolumeStats({ volumeId, volumePath }) {
      if (volumeId === "") throw new CausewayError("CSI_INVALID_ARGUMENT", "The request has no volume ID.");
      if (volumePath === "") throw new CausewayError("CSI_INVALID_ARGUMENT", "The request has no volume path.");
      if (!lstatSync(volumePath, { throwIfNoEntry: false })) {
        throw new CausewayError("CSI_NOT_FOUND", `There is no volume at ${volumePath}.`);
      }
      return { usage: [{ unit: Unit.BYTES, total: 1024n, used: 512n, available: 512n }] };
    },
  };
}
