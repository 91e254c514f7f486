import { annotations, type Cluster } from "@causeway/api";
import {
  annotations as ofServices,
  defaultCloudConfig,
  type LoadBalancerConfig,
} from "@causeway/cloud-controller-manager";

/**
 * What the cloud controller of a cluster does where a Service says nothing: as annotations of the Cluster say, else
 * with the provider of the fleet, else by default. A value that is not known has no effect.
 */
export function loadBalancerOf({ metadata }: Cluster, provider?: string): LoadBalancerConfig {
  const own = metadata.annotations ?? {};
  const method = ofServices.method.choices.find((known) => known === own[annotations.loadBalancerMethod]);
  const monitor = own[annotations.loadBalancerMonitor];
  const chosen = own[annotations.loadBalancerProvider] || provider;
  return {
    ...defaultCloudConfig().loadBalancer,
    // Its machines are ours, too: they wait until load balancers do not lead to them.
    followNodes: true,
    ...(chosen === undefined ? {} : { provider: chosen }),
    ...(method === undefined ? {} : { method }),
    ...(monitor === "true" || monitor === "false" ? { createMonitor: monitor === "true" } : {}),
  };
}
