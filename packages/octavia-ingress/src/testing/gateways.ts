import { classParameters } from "../ingress/parameters.ts";
import { FINALIZER, gatewayOwner } from "../names.ts";
import { Gateway, HTTPRoute, type GatewayListener, type Route, type RouteRule } from "../objects/gateway.ts";
import type { Observed } from "../gateway/observed.ts";
import { plan } from "../gateway/plan.ts";
import { balancerOf, CONFIG, emptyBalancer, floatingIp, node, service } from "./observed.ts";

/** When plans of tests are made. */
export const NOW = 1_000_000;
const VERSION = "gateway.networking.k8s.io/v1";
/** The owner of the load balancer of `gateway`. */
export const OWNER = gatewayOwner("c", { namespace: "n", name: "gw", uid: "gw" });
/** A listener for HTTP. */
export const HTTP: GatewayListener = { name: "http", port: 80, protocol: "HTTP" };
/** A listener with a certificate. */
export const HTTPS: GatewayListener = {
  name: "https",
  port: 443,
  protocol: "HTTPS",
  tls: { certificateRefs: [{ name: "good" }] },
};

/** The Gateway n/gw. */
export function gateway(
  listeners: GatewayListener[],
  more: { held?: boolean; going?: boolean; internal?: boolean } = {},
): Gateway {
  const { held = true, going = false, internal = false } = more;
  return {
    apiVersion: VERSION,
    kind: Gateway.kind,
    metadata: {
      name: "gw",
      namespace: "n",
      uid: "gw",
      annotations: { "octavia.ingress.kubernetes.io/internal": String(internal) },
      finalizers: held ? [FINALIZER] : [],
      ...(going ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
    },
    spec: { gatewayClassName: "octavia", listeners },
  };
}

/** A route to that Gateway. */
export function route(name: string, rule: RouteRule, namespace = "n"): Route {
  return {
    apiVersion: VERSION,
    kind: HTTPRoute.kind,
    metadata: { name, namespace, uid: name },
    spec: {
      parentRefs: [{ name: "gw", namespace: "n" }],
      hostnames: [`${name}.example`],
      rules: [{ backendRefs: [{ name: "one", namespace: "n", port: 80 }], ...rule }],
    },
  };
}

/** A Gateway with its routes, and nothing in the cloud. */
export function observed(of: Gateway, routes: readonly Route[], more: Partial<Observed> = {}): Observed {
  return {
    gateway: of,
    owner: OWNER,
    config: CONFIG,
    class: classParameters(CONFIG.balancer, undefined),
    routes,
    grants: [],
    services: new Map([["n/one", service("one", 30_001)]]),
    slices: new Map(),
    secrets: new Map([["n/good", { digest: "d".repeat(64), pkcs12: () => Buffer.alloc(0) }]]),
    namespaces: new Map(),
    keyManager: true,
    nodes: [node("a", "10.0.0.9")],
    balancer: emptyBalancer(OWNER),
    ...more,
  };
}

/** What the cloud has once the create that is planned for it is done. */
export function settled(of: Gateway, routes: readonly Route[]): Observed["balancer"] {
  const [step] = plan(observed(of, routes), NOW).steps;
  if (step?.type !== "create-load-balancer") throw new Error(`no create but ${step?.type}`);
  return { ...balancerOf(OWNER, step.body), floatingIp: floatingIp(OWNER) };
}

/** A Gateway with one listener. */
export const plain = gateway([HTTP]);
/** A route to it. */
export const web = route("web", {});
