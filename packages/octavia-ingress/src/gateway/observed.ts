import type { EndpointSlice, Namespace, Node, Service } from "@causeway/kubernetes";
import type { ObservedBalancer } from "../balancer/balancer.ts";
import type { Bundle } from "../certificates/pkcs12.ts";
import type { IngressConfig } from "../config/config.ts";
import type { ClassParameters } from "../ingress/parameters.ts";
import type { Owner } from "../names.ts";
import type { Gateway, GatewayStatus, ReferenceGrant, Route, RouteParentStatus } from "../objects/gateway.ts";

/** A Gateway with everything that its load balancer depends on. */
export interface Observed {
  readonly gateway: Gateway;
  readonly owner: Owner;
  readonly config: IngressConfig;
  /** Undefined: its class is no longer ours. */
  readonly class: ClassParameters | undefined;
  /** Routes that name the Gateway as a parent, or whose status has an entry of ours for it; the oldest first. */
  readonly routes: readonly Route[];
  readonly grants: readonly ReferenceGrant[];
  /** By "namespace/name". */
  readonly services: ReadonlyMap<string, Service>;
  /** Of the Services of its routes, where members are pods. */
  readonly slices: ReadonlyMap<string, readonly EndpointSlice[]>;
  readonly secrets: ReadonlyMap<string, Bundle | { readonly problem: string }>;
  readonly namespaces: ReadonlyMap<string, Namespace>;
  readonly keyManager: boolean;
  readonly nodes: readonly Node[];
  readonly balancer: ObservedBalancer;
}

/** What a reconcile of a Gateway publishes. */
export interface Published {
  /** Undefined: what was published remains. */
  readonly gateway: GatewayStatus | undefined;
  /** All entries of a route's status, those of other controllers and Gateways among them. */
  readonly routes: readonly { readonly route: Route; readonly parents: readonly RouteParentStatus[] }[];
}
