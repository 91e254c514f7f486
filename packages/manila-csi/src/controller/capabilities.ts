import { CausewayError } from "@causeway/foundation";
import {
  ControllerServiceCapability_RPC_Type as Type,
  VolumeCapability_AccessMode_Mode as Mode,
  type VolumeCapability,
} from "@causeway/csi";

/** What the controller service can do. */
export const CONTROLLER_CAPABILITIES: readonly Type[] = [
  Type.CREATE_DELETE_VOLUME,
  Type.CREATE_DELETE_SNAPSHOT,
  Type.EXPAND_VOLUME,
];

/** Throws CSI_INVALID_ARGUMENT: a share is no block device. */
export function requireFileSystem(capabilities: readonly VolumeCapability[]): void {
  if (capabilities.length === 0) {
    throw new CausewayError("CSI_INVALID_ARGUMENT", "The request has no volume capabilities.");
  }
  if (capabilities.some(({ accessType }) => accessType.case === "block")) {
    throw new CausewayError("CSI_INVALID_ARGUMENT", "A share cannot be a block device; use volumeMode: Filesystem.");
  }
}

/** Why the capability is not supported; undefined if it is. Shares have every access mode. */
export function unsupported({ accessType, accessMode }: VolumeCapability): string | undefined {
  if (accessType.case === "block") return "a share cannot be a block device";
  if (accessType.case !== "mount") return "the access type is missing";
  return (accessMode?.mode ?? Mode.UNKNOWN) === Mode.UNKNOWN ? "the access mode is missing" : undefined;
}
