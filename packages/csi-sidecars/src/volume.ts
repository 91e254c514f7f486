import type { CsiVolumeSource, PersistentVolume } from "@causeway/kubernetes";
import { capabilityOf } from "./capability.ts";
import type { SidecarDriver } from "./context.ts";
import { DEFAULT_FS_TYPE, IDENTITY } from "./names.ts";

/** A volume of the driver, which may have the name of the in-tree driver. */
export interface DriverVolume {
  readonly volume: PersistentVolume;
  readonly csi: CsiVolumeSource;
}

/** Undefined: the volume is another driver's. */
export function volumeOf(driver: SidecarDriver, volume: PersistentVolume | undefined): DriverVolume | undefined {
  if (!volume) return undefined;
  const served = volume.spec.csi === undefined ? driver.migration?.volume(volume) : volume;
  const csi = served?.spec.csi;
  return csi?.driver === driver.name ? { volume, csi } : undefined;
}

/** The capability by which an existing PersistentVolume is published or expanded. */
export function volumeCapability({ singleNodeMultiWriter = false }: SidecarDriver, { volume, csi }: DriverVolume) {
  const { accessModes = [], volumeMode, mountOptions = [] } = volume.spec;
  return capabilityOf({
    accessModes,
    volumeMode,
    fsType: csi.fsType ?? DEFAULT_FS_TYPE,
    mountOptions,
    singleNodeMultiWriter,
  });
}

/** What the driver returned as the volume's context. */
export function volumeContext({ csi }: DriverVolume): Record<string, string> {
  const { [IDENTITY]: _, ...context } = csi.volumeAttributes ?? {};
  return context;
}
