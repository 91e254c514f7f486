import type { Namespace } from "@causeway/kubernetes";
import { GATEWAY_GROUP, type AllowedRoutes, type ParentReference, type ReferenceGrant } from "../objects/gateway.ts";

interface From {
  readonly kind: string;
  readonly namespace: string;
}
interface To {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** May an object refer to another? Across namespaces only where a ReferenceGrant in the other's namespace says so. */
export function isPermitted(grants: readonly ReferenceGrant[], from: From, to: To): boolean {
  if (from.namespace === to.namespace) return true;
  return grants.some(
    ({ metadata, spec }) =>
      metadata.namespace === to.namespace &&
      spec.from.some((f) => f.group === GATEWAY_GROUP && f.kind === from.kind && f.namespace === from.namespace) &&
      spec.to.some((t) => t.group === to.group && t.kind === to.kind && (t.name === undefined || t.name === to.name)),
  );
}

/** Does the reference name that Gateway? */
export function isParent(
  { group = GATEWAY_GROUP, kind = "Gateway", namespace, name }: ParentReference,
  routeNamespace: string,
  gateway: { readonly namespace: string; readonly name: string },
): boolean {
  if (group !== GATEWAY_GROUP || kind !== "Gateway" || name !== gateway.name) return false;
  return (namespace ?? routeNamespace) === gateway.namespace;
}

/** Are routes of that namespace allowed? */
export function allowsNamespace(
  { namespaces: rule }: AllowedRoutes,
  gatewayNamespace: string,
  route: { readonly name: string; readonly object: Namespace | undefined },
): boolean {
  switch (rule?.from ?? "Same") {
    case "All":
      return true;
    case "None":
      return false;
    case "Selector":
      return matches(rule?.selector ?? {}, route.object?.metadata.labels ?? {});
    default:
      return route.name === gatewayNamespace;
  }
}

function matches(
  { matchLabels = {}, matchExpressions = [] }: NonNullable<NonNullable<AllowedRoutes["namespaces"]>["selector"]>,
  labels: Readonly<Record<string, string>>,
): boolean {
  const plain = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  return (
    plain &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === "Exists") return value !== undefined;
      if (operator === "DoesNotExist") return value === undefined;
      const among = value !== undefined && values.includes(value);
      return operator === "In" ? among : !among;
    })
  );
}
