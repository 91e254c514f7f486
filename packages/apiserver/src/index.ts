export { firstObjects, startApiServer } from "./start.ts";
export { restoreApiServer } from "./backup/restore.ts";
export type { Backup } from "./backup/backup.ts";
export type { AuditLogOptions, AuditOptions, AuditServerOptions, AuditWebhookOptions } from "./contract/audit.ts";
export type {
  AuthenticationOptions,
  ExternalAuthenticationOptions,
  ExternalAuthenticator,
  ExternalAuthenticators,
  ExternalUser,
  OidcOptions,
  TokenWebhookOptions,
} from "./contract/authentication.ts";
export type { EncryptionOptions } from "./contract/encryption.ts";
export type {
  ApiServer,
  ApiServerOptions,
  ControlledCluster,
  GuardOptions,
  IsolationOptions,
  InProcessClient,
  LogicalCluster,
  LogicalClusterOptions,
  RunningControllers,
  ServingFiles,
  StartApiServer,
  StartClusterControllers,
  WorkerStatus,
} from "./interface.ts";
export type { LogicalClusterLimits } from "./contract/quota.ts";
export type { ServerProblem } from "./contract/server-problem.ts";
export type { KindConversion, Spoke } from "./contract/converter.ts";
