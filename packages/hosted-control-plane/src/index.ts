export { createEmbeddedRuntime, type EmbeddedRuntimeOptions } from "./embedded.ts";
export { createProcessRuntime, type ProcessRuntime, type ProcessRuntimeOptions } from "./process/process-runtime.ts";
export {
  createPodsRuntime,
  type PodsRuntime,
  type PodsRuntimeOptions,
  type SharedControlPlanes,
} from "./pods/controller.ts";
export {
  findSharedEtcds,
  readSharedRotation,
  requestSharedRotation,
  type SharedEtcd,
  type SharedEtcdRotation,
} from "./pods/pool/rotation-request.ts";
export { createPodsTransfer, type PodsTransfer, type PodsTransferOptions } from "./pods/hand-over/transfer.ts";
export type { PodsSettings, TunnelSettings, VersionImages } from "./pods/options.ts";
export { createBackups, type Backups } from "./backup/backups.ts";
export { isFull, pointsByFolder, type Point } from "./backup/points.ts";
export { backupRequestAnnotation } from "./controlplane/backup-spec.ts";
export type { ObjectStore } from "./backup/store.ts";
export { createS3Store, type S3Store, type S3StoreOptions } from "./backup/s3/store.ts";
export type { S3Credentials } from "./backup/s3/sign.ts";
export { installedVersions } from "./process/programs.ts";
export { createRuntimes, type RuntimesOptions } from "./runtimes.ts";
export { createHostedControlPlane, type HostedControlPlaneOptions } from "./controlplane/controller.ts";
export type {
  ControlPlaneLimits,
  ControlPlaneRuntime,
  ControlPlaneSpec,
  ControlPlaneState,
  RuntimeName,
} from "./runtime.ts";
export { startCopy } from "./pods/migration/copy.ts";
export { seedFile } from "./etcd/seed.ts";
