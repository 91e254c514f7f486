export {
  controllerNames,
  createCloudControllerManager,
  rarelyWatched,
  type CloudControllerManagerOptions,
  type ControllerName,
} from "./manager.ts";
export { releaseLoadBalancers, type ReleaseOptions } from "./release.ts";
export {
  defaultCloudConfig,
  type CloudControllerConfig,
  type LoadBalancerConfig,
  type LoadBalancerPlacement,
  type MetadataConfig,
  type NetworkingConfig,
} from "./config/config.ts";
export { annotations, type ServiceAnnotation } from "./config/annotations.ts";
export { settings, type Setting } from "./config/settings.ts";
export { parseControllerConfig, type ParsedControllerConfig } from "./config/parse.ts";
export {
  explainService,
  type ExplainedRound,
  type ExplainedStep,
  type ExplainOptions,
  type ServiceExplanation,
} from "./service/explain.ts";
export type { PlannedCall } from "./service/step-calls.ts";
export type { Step as ServiceStep } from "./service/steps.ts";
export { parseDuration } from "./config/duration.ts";
export type { Orphan } from "./sweep/plan.ts";
export { createProjectListings, type ProjectListings } from "./sweep/listings.ts";
export { sweepAbandoned, type AbandonedCluster } from "./sweep/abandoned.ts";
export { sweepOrphans, type Swept, type SweepRequest } from "./sweep/sweep.ts";
