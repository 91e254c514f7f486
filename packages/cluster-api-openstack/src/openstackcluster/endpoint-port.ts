import type { OpenStackClusterSpec } from "@causeway/api";

/** The port of the API endpoint: the endpoint's own, else apiServer.port, else 6443. */
export function endpointPort(spec: OpenStackClusterSpec): number {
  return spec.controlPlaneEndpoint?.port || spec.apiServer?.port || 6443;
}

/** The endpoint's port, then the additional ports of the load balancer. */
export function apiPorts(spec: OpenStackClusterSpec): number[] {
  const balancer = spec.apiServer?.managedLoadBalancer;
  const additional = balancer && balancer.enabled !== false ? (balancer.additionalPorts ?? []) : [];
  return [...new Set([endpointPort(spec), ...additional])];
}
