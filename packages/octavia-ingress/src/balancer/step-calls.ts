import { treeCall } from "@causeway/octavia-tree";
import type { BalancerStep } from "./steps.ts";

/** One call that a step is made of, as the service's API reference names it. */
export interface PlannedCall {
  readonly service: "load-balancer" | "network" | "key-manager" | "kubernetes";
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly route: string;
}

/** The calls of a step where none is refused and no response is lost. */
export function callsOf(step: BalancerStep): PlannedCall[] {
  switch (step.type) {
    case "create-load-balancer":
      return [octavia("GET", "/loadbalancers?name={name}"), octavia("POST", "/loadbalancers")];
    case "store-certificate":
      return [{ service: "key-manager", method: "POST", route: "/secrets" }];
    case "delete-certificate":
      return [{ service: "key-manager", method: "DELETE", route: "/secrets/{id}" }];
    case "create-floating-ip":
      return [neutron("POST", "/floatingips")];
    case "attach-floating-ip":
    case "detach-floating-ip":
      return [neutron("PUT", "/floatingips/{id}")];
    case "delete-floating-ip":
      return [...(step.onlyFree ? [neutron("GET", "/floatingips/{id}")] : []), neutron("DELETE", "/floatingips/{id}")];
    case "create-security-group":
      return [
        neutron("GET", "/security-groups?name={name}"),
        neutron("POST", "/security-groups"),
        neutron("PUT", "/security-groups/{id}/tags"),
        neutron("GET", "/security-groups/{id}"),
      ];
    case "tag-security-group":
      return [neutron("PUT", "/security-groups/{id}/tags"), neutron("GET", "/security-groups/{id}")];
    case "add-security-group-rules":
      return [neutron("POST", "/security-group-rules"), neutron("GET", "/security-groups/{id}")];
    case "remove-security-group-rules":
      return [
        ...step.ids.map(() => neutron("DELETE", "/security-group-rules/{id}")),
        neutron("GET", "/security-groups/{id}"),
      ];
    case "set-port-security-groups":
      return step.ports.map(() => neutron("PUT", "/ports/{id}"));
    case "delete-security-group":
      return [neutron("DELETE", "/security-groups/{id}")];
    case "delete-load-balancer":
      return [octavia("DELETE", "/loadbalancers/{id}?cascade=true")];
    default:
      return [{ service: "load-balancer", ...treeCall(step.type) }];
  }
}

function octavia(method: PlannedCall["method"], route: string): PlannedCall {
  return { service: "load-balancer", method, route };
}

function neutron(method: PlannedCall["method"], route: string): PlannedCall {
  return { service: "network", method, route };
}
