import type { LoadBalancerIngress, Service } from "@causeway/kubernetes";
import { annotation } from "../../config/annotations.ts";
import { maxNameLength } from "./names.ts";
import type { Parameters } from "./parameters.ts";

/** "_ipv6" or "_ipv4" after the name of the first: no Service's name has an underscore. */
export function secondName(lbName: string, family: "IPv4" | "IPv6"): string {
  const end = `_${family.toLowerCase()}`;
  return `${lbName.slice(0, maxNameLength - end.length)}${end}`;
}

/** The family that the Service's first load balancer does not have. */
export function otherFamily({ spec }: Service): "IPv4" | "IPv6" {
  return spec.ipFamilies?.[0] === "IPv6" ? "IPv4" : "IPv6";
}

/** Are both families requested? */
export function isDualStack({ spec }: Service): boolean {
  return (spec.ipFamilies?.length ?? 1) > 1;
}

/**
 * A Service of two families is two of one: the second as if it were a Service of its own, with what speaks of one
 * address only removed. One that is to have no second load balancer any more seems as if it were being deleted.
 */
export function secondService(service: Service): Service {
  const family = otherFamily(service);
  const { loadBalancerIP: _address, ...spec } = service.spec;
  const {
    [annotation.loadBalancerId]: _id,
    [annotation.loadBalancerAddress]: _noted,
    ...annotations
  } = service.metadata.annotations ?? {};
  const ending = isDualStack(service)
    ? {}
    : { deletionTimestamp: service.metadata.deletionTimestamp ?? "1970-01-01T00:00:00Z" };
  return {
    ...service,
    metadata: { ...service.metadata, ...ending, annotations },
    spec: { ...spec, ipFamilies: [family] },
    status: { loadBalancer: { ingress: (service.status?.loadBalancer?.ingress ?? []).filter((i) => isOf(family, i)) } },
  };
}

/** Where the first one is says nothing about the second: it is where the nodes have addresses of its family. */
export function secondParameters(parameters: Parameters): Parameters {
  const nowhere = { portId: undefined, subnetId: undefined, networkId: undefined, memberSubnetId: undefined };
  return { ...parameters, ...nowhere };
}

function isOf(family: "IPv4" | "IPv6", { ip }: LoadBalancerIngress): boolean {
  return ip !== undefined && ip.includes(":") === (family === "IPv6");
}
