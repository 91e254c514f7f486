export type { Context, Migration, SidecarDriver } from "./context.ts";
export { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from "./snapshot-objects.ts";
export { VolumeGroupSnapshot, VolumeGroupSnapshotClass, VolumeGroupSnapshotContent } from "./group-snapshot-objects.ts";
export { CSIStorageCapacity } from "./capacity/object.ts";
export { groupSnapshotDefinitions } from "./group-snapshot-definitions.ts";
export { snapshotDefinitions } from "./snapshot-definitions.ts";
export { createSidecars, type Sidecars } from "./sidecars.ts";
