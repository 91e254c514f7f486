export type { CallOptions, Collection, CreateOptions, Query, ReadOnlyCollection } from "./types/collection.ts";
export type * from "./types/network.ts";
export type * from "./types/compute.ts";
export type * from "./types/load-balancing.ts";
export type * from "./types/block-storage.ts";
export type * from "./types/compute-extras.ts";
export type * from "./types/image.ts";
export type * from "./types/load-balancing-extras.ts";
export type * from "./types/network-extensions.ts";
// Services whose names for things ("Group", "Secret", "Zone") are other services' too.
export type * as Identity from "./types/identity.ts";
export type * as KeyManager from "./types/key-manager.ts";
export type * as Placement from "./types/placement.ts";
export type * as ObjectStore from "./types/object-store.ts";
export type * as Orchestration from "./types/orchestration.ts";
export type * as ContainerInfrastructure from "./types/container-infrastructure.ts";
export type * as Dns from "./types/dns.ts";
export type * as SharedFileSystem from "./types/shared-file-system.ts";
export type {
  CallStats,
  Cloud,
  ComputeService,
  LoadBalancingService,
  NetworkService,
  ServiceDescription,
  ServicePause,
} from "./types/cloud.ts";
export type { ServiceName } from "./types/service-name.ts";
export type { CloudChange, CloudInformer, CloudWatch } from "./watch/interface.ts";
export type {
  ApplicationCredentialAuth,
  CloudAuth,
  CloudConfig,
  CloudScope,
  CloudTls,
  DomainReference,
  EndpointInterface,
  OidcAccessTokenAuth,
  PasswordAuth,
  TokenAuth,
} from "./config/config.ts";
export { loadCloudsYaml, renderCloudsYaml, type LoadOptions } from "./config/clouds-yaml.ts";
export { cloudConfKeys, cloudConfOf, parseCloudConf } from "./config/cloud-conf.ts";
export { cloudsYamlVariables, environmentConfig, type CloudVariables } from "./config/environment.ts";
export { fingerprint as cloudFingerprint } from "./config/fingerprint.ts";
export type { ReloadConfig } from "./config/live-config.ts";
export { connectCloud, type ConnectOptions } from "./connect.ts";
export type { BudgetOptions } from "./http/budget.ts";
export { cloudIdentity } from "./identity.ts";
export {
  createIdentityClient,
  issueToken,
  reachIdentity,
  type IdentityAddress,
  type IdentityClient,
  type IdentityClientOptions,
  type IssuedToken,
} from "./identity-client.ts";
export { createApplicationCredentialClient, type ApplicationCredentialClient } from "./application-credentials.ts";
export { deletionsHeld, type DeletingCall } from "./http/deletions.ts";
export type { CacheRules } from "./tokens/plan-cache.ts";
export { createTokens, type Identify, type TokenOptions, type Tokens, type TokenVerdict } from "./tokens/tokens.ts";
export {
  isBadRequest,
  isDeletionsHeld,
  isForbidden,
  isImmutable,
  isNotImplemented,
  isOpenStackConflict,
  isOpenStackNotFound,
  isOutcomeUnknown,
  isQuotaExceeded,
  isRateLimited,
  isRetryableOpenStackError,
  isUnauthorized,
} from "./errors/predicates.ts";
export { redacted } from "./errors/redact.ts";
export { createCloudPool, type CloudClient, type CloudPool, type PoolOptions } from "./pool.ts";
export { until, type UntilOptions } from "./watch/until.ts";
export { watchCloud, type WatchOptions } from "./watch/watch.ts";
export type { WatchIntervals } from "./watch/pace.ts";
