import type { Condition, KubeObject, Resource, ResourceType } from "./meta.ts";

/** Wire types of Services and their endpoints: core/v1 Service and discovery.k8s.io/v1 EndpointSlice. */

export interface ServicePort {
  name?: string;
  protocol?: "TCP" | "UDP" | "SCTP";
  appProtocol?: string;
  port: number;
  targetPort?: number | string;
  nodePort?: number;
}

export interface ServiceSpec {
  type?: "ClusterIP" | "NodePort" | "LoadBalancer" | "ExternalName";
  selector?: Record<string, string>;
  ports?: ServicePort[];
  clusterIP?: string;
  clusterIPs?: string[];
  externalIPs?: string[];
  externalName?: string;
  externalTrafficPolicy?: "Cluster" | "Local";
  internalTrafficPolicy?: "Cluster" | "Local";
  healthCheckNodePort?: number;
  ipFamilies?: ("IPv4" | "IPv6")[];
  ipFamilyPolicy?: "SingleStack" | "PreferDualStack" | "RequireDualStack";
  loadBalancerIP?: string;
  loadBalancerClass?: string;
  loadBalancerSourceRanges?: string[];
  allocateLoadBalancerNodePorts?: boolean;
  publishNotReadyAddresses?: boolean;
  sessionAffinity?: "None" | "ClientIP";
  sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } };
}

export interface LoadBalancerIngress {
  ip?: string;
  hostname?: string;
  ipMode?: "VIP" | "Proxy";
  ports?: { port: number; protocol: string; error?: string }[];
}

export interface ServiceStatus {
  loadBalancer?: { ingress?: LoadBalancerIngress[] };
  conditions?: Condition[];
}

export type Service = Resource<ServiceSpec, ServiceStatus>;

export interface Endpoint {
  addresses: string[];
  conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
  hostname?: string;
  nodeName?: string;
  zone?: string;
  targetRef?: { kind?: string; namespace?: string; name?: string; uid?: string };
}

export interface EndpointSlice extends KubeObject {
  addressType: "IPv4" | "IPv6" | "FQDN";
  endpoints: Endpoint[];
  ports?: { name?: string; protocol?: string; port?: number; appProtocol?: string }[];
}

export interface EndpointAddress {
  ip: string;
  hostname?: string;
  nodeName?: string;
  targetRef?: { kind?: string; namespace?: string; name?: string; uid?: string };
}

export interface EndpointSubset {
  addresses?: EndpointAddress[];
  notReadyAddresses?: EndpointAddress[];
  ports?: { name?: string; protocol?: string; port: number; appProtocol?: string }[];
}

export interface Endpoints extends KubeObject {
  subsets?: EndpointSubset[];
}

export const Endpoints: ResourceType<Endpoints> = {
  group: "",
  version: "v1",
  kind: "Endpoints",
  plural: "endpoints",
  namespaced: true,
};
export const Service: ResourceType<Service> = {
  group: "",
  version: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
};
export const EndpointSlice: ResourceType<EndpointSlice> = {
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
};
