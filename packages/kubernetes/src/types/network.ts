import type { Condition, KubeObject, Resource, ResourceType } from "./meta.ts";

/** Wire types of Services and their endpoints: core/v1 Service and discovery.k8s.io/v1 EndpointSlice. */

/** A port of a Service, and the port of the pods behind it. */
export interface ServicePort {
  name?: string;
  protocol?: "TCP" | "UDP" | "SCTP";
  appProtocol?: string;
  port: number;
  targetPort?: number | string;
  nodePort?: number;
}

/** Type, ports and backends of a Service. */
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

/** An address or hostname where a load balancer is reached. */
export interface LoadBalancerIngress {
  ip?: string;
  hostname?: string;
  ipMode?: "VIP" | "Proxy";
  ports?: { port: number; protocol: string; error?: string }[];
}

/** Where a Service's load balancer is reached. */
export interface ServiceStatus {
  loadBalancer?: { ingress?: LoadBalancerIngress[] };
  conditions?: Condition[];
}

/** v1 Service. */
export type Service = Resource<ServiceSpec, ServiceStatus>;

/** The addresses of one backend of a Service, and whether it is ready. */
export interface Endpoint {
  addresses: string[];
  conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
  hostname?: string;
  nodeName?: string;
  zone?: string;
  targetRef?: { kind?: string; namespace?: string; name?: string; uid?: string };
}

/** discovery.k8s.io/v1 EndpointSlice. */
export interface EndpointSlice extends KubeObject {
  addressType: "IPv4" | "IPv6" | "FQDN";
  endpoints: Endpoint[];
  ports?: { name?: string; protocol?: string; port?: number; appProtocol?: string }[];
}

/** An address in an Endpoints object. */
export interface EndpointAddress {
  ip: string;
  hostname?: string;
  nodeName?: string;
  targetRef?: { kind?: string; namespace?: string; name?: string; uid?: string };
}

/** Addresses with the same ports in an Endpoints object. */
export interface EndpointSubset {
  addresses?: EndpointAddress[];
  notReadyAddresses?: EndpointAddress[];
  ports?: { name?: string; protocol?: string; port: number; appProtocol?: string }[];
}

/** v1 Endpoints. */
export interface Endpoints extends KubeObject {
  subsets?: EndpointSubset[];
}

/** The resource v1, endpoints, as clients and informers name it. */
export const Endpoints: ResourceType<Endpoints> = {
  group: "",
  version: "v1",
  kind: "Endpoints",
  plural: "endpoints",
  namespaced: true,
};

/** The resource v1, services. */
export const Service: ResourceType<Service> = {
  group: "",
  version: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
};

/** The resource discovery.k8s.io/v1, endpointslices. */
export const EndpointSlice: ResourceType<EndpointSlice> = {
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
};
