import type { ObjectKey } from "@causeway/kubernetes";
import type { Gateway, Route } from "../objects/gateway.ts";
import { parametersOf } from "../ingress/parameters.ts";
import { gatewayOwner, GATEWAY_CONTROLLER } from "../names.ts";
import { word } from "./reference-index.ts";

/**
 * Words for what a route's Gateways are reconciled for: its Services, and the namespaces whose grants and labels it
 * needs.
 */
export function routeReferences({ metadata, spec }: Route): string[] {
  const own = metadata.namespace ?? "";
  const backends = (spec.rules ?? []).flatMap(({ backendRefs = [] }) => backendRefs);
  return [
    word("Namespace", { namespace: "", name: own }),
    ...backends.flatMap(({ name, namespace = own }) => [
      word("Service", { namespace, name }),
      ...(namespace === own ? [] : [word("Grants", { namespace, name: "" })]),
    ]),
  ];
}

/**
 * Words for what a Gateway is reconciled for: its class, Secrets, grants, and its address and load balancer in the
 * cloud.
 */
export function gatewayReferences(cluster: string, { metadata, spec }: Gateway): string[] {
  const { name: of, namespace: own = "", uid = "" } = metadata;
  const secrets = spec.listeners.flatMap(({ tls }) => tls?.certificateRefs ?? []);
  const owner = gatewayOwner(cluster, { name: of, namespace: own, uid });
  const address = spec.addresses?.[0]?.value ?? parametersOf({ metadata }).floatingIp;
  return [
    word("GatewayClass", { namespace: "", name: spec.gatewayClassName }),
    `Balancer ${owner.name}`,
    `Description ${owner.floatingIpDescription}`,
    ...(address === undefined ? [] : [`Address ${address}`]),
    ...secrets.flatMap(({ name, namespace = own }) => [
      word("Secret", { namespace, name }),
      ...(namespace === own ? [] : [word("Grants", { namespace, name: "" })]),
    ]),
  ];
}

/** Parent references of a route, and those in entries of ours in its status. */
export function parentsOf({ spec, status }: Route) {
  const entries = (status?.parents ?? []).filter(({ controllerName }) => controllerName === GATEWAY_CONTROLLER);
  return [...(spec.parentRefs ?? []), ...entries.map(({ parentRef }) => parentRef)];
}

/** The Gateways that a change of a route concerns, those that it named before included. */
export function parentKeys(route: Route): ObjectKey[] {
  return parentsOf(route).map(({ namespace = route.metadata.namespace ?? "", name }) => ({ namespace, name }));
}
