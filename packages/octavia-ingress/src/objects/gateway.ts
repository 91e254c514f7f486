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

export interface SecretReference {
  group?: string;
  kind?: string;
  name: string;
  namespace?: string;
}
export interface AllowedRoutes {
  namespaces?: {
    from?: "All" | "Same" | "Selector" | "None";
    selector?: { matchLabels?: Record<string, string>; matchExpressions?: SelectorTerm[] };
  };
  kinds?: { group?: string; kind: string }[];
}
export interface SelectorTerm {
  key: string;
  operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  values?: string[];
}
export interface GatewayListener {
  name: string;
  hostname?: string;
  port: number;
  protocol: string;
  tls?: { mode?: "Terminate" | "Passthrough"; certificateRefs?: SecretReference[]; frontendValidation?: object };
  allowedRoutes?: AllowedRoutes;
}
export interface GatewaySpec {
  gatewayClassName: string;
  listeners: GatewayListener[];
  addresses?: { type?: string; value?: string }[];
}
export interface ListenerStatus {
  name: string;
  supportedKinds: { group: string; kind: string }[];
  attachedRoutes: number;
  conditions: Condition[];
}
export interface GatewayStatus {
  addresses?: { type?: string; value: string }[];
  conditions?: Condition[];
  listeners?: ListenerStatus[];
}
/** gateway.networking.k8s.io/v1 Gateway. */
export type Gateway = Resource<GatewaySpec, GatewayStatus>;

export interface ParentReference {
  group?: string;
  kind?: string;
  namespace?: string;
  name: string;
  sectionName?: string;
  port?: number;
}
export interface RouteParentStatus {
  parentRef: ParentReference;
  controllerName: string;
  conditions: Condition[];
}
export interface RouteStatus {
  parents: RouteParentStatus[];
}
export interface BackendReference {
  group?: string;
  kind?: string;
  name: string;
  namespace?: string;
  port?: number;
  weight?: number;
  filters?: unknown[];
}
export interface RouteMatch {
  path?: { type?: string; value?: string };
  headers?: { type?: string; name: string; value: string }[];
  queryParams?: unknown[];
  method?: string;
}
export interface RedirectFilter {
  scheme?: string;
  hostname?: string;
  port?: number;
  statusCode?: number;
  path?: { type: string; replaceFullPath?: string; replacePrefixMatch?: string };
}
export interface RouteRule {
  name?: string;
  matches?: RouteMatch[];
  filters?: { type: string; requestRedirect?: RedirectFilter }[];
  backendRefs?: BackendReference[];
  timeouts?: object;
  retry?: object;
  sessionPersistence?: object;
}
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

export const GATEWAY_GROUP = "gateway.networking.k8s.io";

export const GatewayClass = define<GatewayClass>("GatewayClass", "gatewayclasses", { namespaced: false });
export const Gateway = define<Gateway>("Gateway", "gateways");
/** gateway.networking.k8s.io/v1 HTTPRoute. */
export const HTTPRoute = define<Route>("HTTPRoute", "httproutes");
/** gateway.networking.k8s.io/v1alpha2 TLSRoute. */
export const TLSRoute = define<Route>("TLSRoute", "tlsroutes");
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
