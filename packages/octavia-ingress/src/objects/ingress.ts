import type { KubeObject, Resource, ResourceType } from "@causeway/kubernetes";

/** Wire types of networking.k8s.io/v1, with the fields that are read or written here. */

/** Where requests are forwarded: a port of a Service; `resource` is another kind of backend. */
export interface IngressBackend {
  service?: { name: string; port?: { name?: string; number?: number } };
  resource?: { apiGroup?: string; kind: string; name: string };
}
/** A path of a rule. ImplementationSpecific is a plain prefix, as upstream's controller has it. */
export interface IngressPath {
  path?: string;
  pathType: "Exact" | "Prefix" | "ImplementationSpecific";
  backend: IngressBackend;
}
/** Rules, TLS and default backend of an Ingress. */
export interface IngressSpec {
  ingressClassName?: string;
  defaultBackend?: IngressBackend;
  tls?: { hosts?: string[]; secretName?: string }[];
  rules?: { host?: string; http?: { paths: IngressPath[] } }[];
}
/** The status of an Ingress: where clients reach it. */
export interface IngressStatus {
  loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] };
}
/** networking.k8s.io/v1 Ingress. */
export type Ingress = Resource<IngressSpec, IngressStatus>;

/** networking.k8s.io/v1 IngressClass. */
export interface IngressClass extends KubeObject {
  spec?: {
    controller?: string;
    parameters?: { apiGroup?: string; kind: string; name: string; scope?: string; namespace?: string };
  };
}

/** networking.k8s.io/v1 Ingress. */
export const Ingress: ResourceType<Ingress> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "Ingress",
  plural: "ingresses",
  namespaced: true,
};
/** networking.k8s.io/v1 IngressClass, which is not namespaced. */
export const IngressClass: ResourceType<IngressClass> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "IngressClass",
  plural: "ingressclasses",
  namespaced: false,
};
