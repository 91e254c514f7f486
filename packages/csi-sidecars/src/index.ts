export type { Context, Migration, SidecarDriver } from "./context.ts";
export { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from "./snapshot-objects.ts";
export { snapshotDefinitions } from "./snapshot-definitions.ts";
export { createSidecars, type Sidecars } from "./sidecars.ts";
