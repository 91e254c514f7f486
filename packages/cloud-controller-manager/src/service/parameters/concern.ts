import type { Service } from "@causeway/kubernetes";
import type { CloudControllerConfig } from "../../config/config.ts";
import { annotation } from "../../config/annotations.ts";

/** Kubernetes' own name: any cloud provider that takes over knows it. */
export const serviceFinalizer = "service.kubernetes.io/load-balancer-cleanup";

/** The rule of cloud-provider's service controller: one that names a loadBalancerClass is another controller's. */
export function wantsLoadBalancer({ spec }: Service): boolean {
  return spec.type === "LoadBalancer" && spec.loadBalancerClass === undefined;
}

/** A Service is ours while it wants a load balancer, and as long after as we hold it. */
export function concerns(service: Service, config: CloudControllerConfig): boolean {
  if (isHeld(service)) return true;
  return config.loadBalancer.enabled && wantsLoadBalancer(service) && service.metadata.deletionTimestamp === undefined;
}

/**
 * Does it have our finalizer? With a class that may be another controller's: until such a Service goes, it is held by
 * us only where a load balancer of ours is noted.
 */
export function isHeld(service: Service): boolean {
  const { finalizers = [], annotations = {}, deletionTimestamp } = service.metadata;
  if (!finalizers.includes(serviceFinalizer)) return false;
  const anothers = service.spec.type === "LoadBalancer" && !wantsLoadBalancer(service);
  return !anothers || deletionTimestamp !== undefined || annotations[annotation.loadBalancerId] !== undefined;
}
