export { firstObjects, startApiServer } from "./start.ts";
export { restoreApiServer } from "./backup/restore.ts";
export type { Backup } from "./backup/backup.ts";
export type { AuditLogOptions, AuditOptions, AuditWebhookOptions } from "./contract/audit.ts";
export type { AuthenticationOptions, OidcOptions, TokenWebhookOptions } from "./auth/interface.ts";
export type { EncryptionOptions } from "./encryption/interface.ts";
export type {
  ApiServer,
  ApiServerOptions,
  ControlledCluster,
  GuardOptions,
  IsolationOptions,
  LogicalCluster,
  LogicalClusterLimits,
  LogicalClusterOptions,
  RunningControllers,
  ServerProblem,
  ServingFiles,
  StartApiServer,
  StartClusterControllers,
  WorkerStatus,
} from "./interface.ts";
export type { KindConversion, Spoke } from "./conversion/registered.ts";
