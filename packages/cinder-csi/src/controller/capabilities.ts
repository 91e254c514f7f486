import {
  ControllerServiceCapability_RPC_Type as Type,
  VolumeCapability_AccessMode_Mode as Mode,
  type VolumeCapability,
} from "@causeway/csi";

/** What the controller service can do. */
export const CONTROLLER_CAPABILITIES: readonly Type[] = [
  Type.CREATE_DELETE_VOLUME,
  Type.PUBLISH_UNPUBLISH_VOLUME,
  Type.LIST_VOLUMES,
  Type.LIST_VOLUMES_PUBLISHED_NODES,
  Type.GET_VOLUME,
  Type.GET_CAPACITY,
  Type.VOLUME_CONDITION,
  Type.CREATE_DELETE_SNAPSHOT,
  Type.LIST_SNAPSHOTS,
  Type.GET_SNAPSHOT,
  Type.EXPAND_VOLUME,
  Type.CLONE_VOLUME,
  Type.SINGLE_NODE_MULTI_WRITER,
  Type.MODIFY_VOLUME,
];

const ONE_NODE = new Set<number>([
  Mode.SINGLE_NODE_WRITER,
  Mode.SINGLE_NODE_READER_ONLY,
  Mode.SINGLE_NODE_SINGLE_WRITER,
  Mode.SINGLE_NODE_MULTI_WRITER,
]);

/**
 * Whether a volume with this capability may be attached to several servers: block devices, and file systems that are
 * only read.
 */
export function isSharable(capability: VolumeCapability | undefined): boolean {
  if (capability?.accessType.case === "block") return true;
  return capability?.accessMode?.mode === Mode.MULTI_NODE_READER_ONLY;
}

/** Why the capability is not supported; undefined if it is. */
export function unsupported(capability: VolumeCapability, multiattach: boolean): string | undefined {
  const mode = capability.accessMode?.mode ?? Mode.UNKNOWN;
  if (ONE_NODE.has(mode)) return undefined;
  if (mode === Mode.UNKNOWN) return "the access mode is missing";
  if (!isSharable(capability)) return "a file system cannot be written from several nodes; use volumeMode: Block";
  return multiattach ? undefined : "the volume's type does not allow multiattach";
}
