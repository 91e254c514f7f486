import type { Condition, KubeObject, Resource, ResourceType } from "@causeway/kubernetes";

/** Wire types of gateway.networking.k8s.io, with the fields that are read or written here. */

/** gateway.networking.k8s.io/v1 GatewayClass: which controller serves Gateways of the class. */
export interface GatewayClass extends KubeObject {
  spec: {
    controllerName: string;
    parametersRef?: { group: string; kind: string; name: string; namespace?: string };
  };
  status?: { conditions?: Condition[]; supportedFeatures?: { name: string }[] };
}

/** A Secret with a certificate; kind and group are those of Secrets when they are left out. */
export interface SecretReference {
  group?: string;
  kind?: string;
  name: string;
  namespace?: string;
}
/** Which routes may attach to a listener. Without `from`: those of the Gateway's own namespace. */
export interface AllowedRoutes {
  namespaces?: {
    from?: "All" | "Same" | "Selector" | "None";
    selector?: { matchLabels?: Record<string, string>; matchExpressions?: SelectorTerm[] };
  };
  kinds?: { group?: string; kind: string }[];
}
/** One requirement of a label selector. */
export interface SelectorTerm {
  key: string;
  operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  values?: string[];
}
/** A listener of a Gateway. Of protocols, HTTP, HTTPS and TLS (Passthrough) are served. */
export interface GatewayListener {
  name: string;
  hostname?: string;
  port: number;
  protocol: string;
  tls?: { mode?: "Terminate" | "Passthrough"; certificateRefs?: SecretReference[]; frontendValidation?: object };
  allowedRoutes?: AllowedRoutes;
}
/** The spec of a Gateway; the first of `addresses` is used. */
export interface GatewaySpec {
  gatewayClassName: string;
  listeners: GatewayListener[];
  addresses?: { type?: string; value?: string }[];
}
/** The status of one listener, by its name. */
export interface ListenerStatus {
  name: string;
  supportedKinds: { group: string; kind: string }[];
  attachedRoutes: number;
  conditions: Condition[];
}
/** The status of a Gateway. */
export interface GatewayStatus {
  addresses?: { type?: string; value: string }[];
  conditions?: Condition[];
  listeners?: ListenerStatus[];
}
/** gateway.networking.k8s.io/v1 Gateway. */
export type Gateway = Resource<GatewaySpec, GatewayStatus>;

/** The Gateway, and by sectionName or port the listener, that a route attaches to. */
export interface ParentReference {
  group?: string;
  kind?: string;
  namespace?: string;
  name: string;
  sectionName?: string;
  port?: number;
}
/** What a controller says about a route at one of its parents. */
export interface RouteParentStatus {
  parentRef: ParentReference;
  controllerName: string;
  conditions: Condition[];
}
/** The status of a route: entries of other controllers are not changed. */
export interface RouteStatus {
  parents: RouteParentStatus[];
}
/** A backend of a rule: a Service and one of its ports. Without `weight` it is 1; 0 gets no requests. */
export interface BackendReference {
  group?: string;
  kind?: string;
  name: string;
  namespace?: string;
  port?: number;
  weight?: number;
  filters?: unknown[];
}
/** What of a request a rule matches: all parts have to match. */
export interface RouteMatch {
  path?: { type?: string; value?: string };
  headers?: { type?: string; name: string; value: string }[];
  queryParams?: unknown[];
  method?: string;
}
/** The requestRedirect of a filter: what of the URL is replaced. */
export interface RedirectFilter {
  scheme?: string;
  hostname?: string;
  port?: number;
  statusCode?: number;
  path?: { type: string; replaceFullPath?: string; replacePrefixMatch?: string };
}
/** A rule of an HTTPRoute or TLSRoute; a TLSRoute's has only backendRefs. */
export interface RouteRule {
  name?: string;
  matches?: RouteMatch[];
  filters?: { type: string; requestRedirect?: RedirectFilter }[];
  backendRefs?: BackendReference[];
  timeouts?: object;
  retry?: object;
  sessionPersistence?: object;
}
/** The spec of a route. Without hostnames it has those of the listener. */
export interface RouteSpec {
  parentRefs?: ParentReference[];
  hostnames?: string[];
  rules?: RouteRule[];
}
/** A route of any kind. */
export type Route = Resource<RouteSpec, RouteStatus>;

/** gateway.networking.k8s.io/v1beta1 ReferenceGrant. */
export interface ReferenceGrant extends KubeObject {
  spec: {
    from: { group: string; kind: string; namespace: string }[];
    to: { group: string; kind: string; name?: string }[];
  };
}

/** The API group of the Gateway API. */
export const GATEWAY_GROUP = "gateway.networking.k8s.io";

/** gateway.networking.k8s.io/v1 GatewayClass, which is not namespaced. */
export const GatewayClass = define<GatewayClass>("GatewayClass", "gatewayclasses", { namespaced: false });
/** gateway.networking.k8s.io/v1 Gateway. */
export const Gateway = define<Gateway>("Gateway", "gateways");
/** gateway.networking.k8s.io/v1 HTTPRoute. */
export const HTTPRoute = define<Route>("HTTPRoute", "httproutes");
/** gateway.networking.k8s.io/v1alpha2 TLSRoute. */
export const TLSRoute = define<Route>("TLSRoute", "tlsroutes");
/** gateway.networking.k8s.io/v1 ReferenceGrant; older releases serve v1beta1 (`VERSIONS`). */
export const ReferenceGrant = define<ReferenceGrant>("ReferenceGrant", "referencegrants");
/** Kinds that releases and channels of the Gateway API serve at different versions, the newest first. */
export const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  TLSRoute: ["v1", "v1alpha3", "v1alpha2"],
  ReferenceGrant: ["v1", "v1beta1"],
  TCPRoute: ["v1", "v1alpha2"],
  UDPRoute: ["v1", "v1alpha2"],
};
/** Kinds of routes that Octavia cannot serve by L7 policies; they are refused in their status. */
export const refusedRoutes: readonly ResourceType<Route>[] = [
  define("GRPCRoute", "grpcroutes"),
  define("TCPRoute", "tcproutes", { version: "v1alpha2" }),
  define("UDPRoute", "udproutes", { version: "v1alpha2" }),
];
const routeTypes: readonly ResourceType<Route>[] = [HTTPRoute, TLSRoute, ...refusedRoutes];

/** The type that a route was read as. */
export function typeOfRoute({ apiVersion, kind }: Route): ResourceType<Route> {
  const type = routeTypes.find((each) => each.kind === kind) ?? HTTPRoute;
  return { ...type, version: apiVersion.split("/")[1] ?? type.version };
}

function define<T extends KubeObject>(
  kind: string,
  plural: string,
  { version = "v1", namespaced = true }: { version?: string; namespaced?: boolean } = {},
): ResourceType<T> {
  return { group: GATEWAY_GROUP, version, kind, plural, namespaced };
}
