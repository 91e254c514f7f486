export type { BalancerDefaults, IngressConfig } from "./config/config.ts";
export { readConfig, type ConfigFile } from "./config/parse.ts";
export { CLASS_ANNOTATION, CLASS_CONTROLLER, CLASS_VALUE, FINALIZER, GATEWAY_CONTROLLER } from "./names.ts";
export { Gateway, GatewayClass, HTTPRoute, ReferenceGrant, TLSRoute } from "./objects/gateway.ts";
export { Ingress, IngressClass, type IngressSpec } from "./objects/ingress.ts";
export { createOctaviaIngress, watched, type OctaviaIngressOptions } from "./octavia-ingress.ts";
export type { ExplainedStep, Explanation } from "./balancer/explain-rounds.ts";
export { explainGateway } from "./gateway/explain.ts";
export { explainIngress, type ExplainOptions } from "./ingress/explain.ts";
