export { createCloudControllerManager, type CloudControllerManagerOptions } from "./manager.ts";
export { releaseLoadBalancers, type ReleaseOptions } from "./release.ts";
export {
  defaultCloudConfig,
  type CloudControllerConfig,
  type LoadBalancerConfig,
  type LoadBalancerPlacement,
  type NetworkingConfig,
} from "./config/config.ts";
