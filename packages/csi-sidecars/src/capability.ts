import { create } from "@bufbuild/protobuf";
import { VolumeCapabilitySchema, VolumeCapability_AccessMode_Mode as Mode, type VolumeCapability } from "@causeway/csi";

/** What a PersistentVolume or claim says about access, in the words of Kubernetes ("ReadWriteOnce", "Filesystem"). */
export interface CapabilityFacts {
  readonly accessModes: readonly string[];
  readonly volumeMode: string | undefined;
  readonly fsType: string;
  readonly mountOptions: readonly string[];
  readonly singleNodeMultiWriter: boolean;
}

/** The capability of a volume. Several access modes are one that has them all. */
export function capabilityOf(facts: CapabilityFacts): VolumeCapability {
  const { volumeMode, fsType, mountOptions } = facts;
  const accessMode = { mode: modeOf(facts) };
  if (volumeMode === "Block") {
    return create(VolumeCapabilitySchema, { accessType: { case: "block", value: {} }, accessMode });
  }
  const value = { fsType, mountFlags: [...mountOptions] };
  return create(VolumeCapabilitySchema, { accessType: { case: "mount", value }, accessMode });
}

function modeOf({ accessModes, singleNodeMultiWriter }: CapabilityFacts): Mode {
  if (accessModes.includes("ReadWriteMany")) return Mode.MULTI_NODE_MULTI_WRITER;
  if (accessModes.includes("ReadOnlyMany")) {
    return accessModes.includes("ReadWriteOnce") ? Mode.MULTI_NODE_SINGLE_WRITER : Mode.MULTI_NODE_READER_ONLY;
  }
  if (!singleNodeMultiWriter) return Mode.SINGLE_NODE_WRITER;
  return accessModes.includes("ReadWriteOncePod") ? Mode.SINGLE_NODE_SINGLE_WRITER : Mode.SINGLE_NODE_MULTI_WRITER;
}
