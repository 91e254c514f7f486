import { treeCall } from "@causeway/octavia-tree";
import type { Step } from "./steps.ts";

/** One call that a step is made of, as the service's API reference names it. */
export interface PlannedCall {
  readonly service: "load-balancer" | "network" | "kubernetes";
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly route: string;
}

type Sketch = readonly [PlannedCall["service"], PlannedCall["method"], string];

/** The calls of a step where none is refused and no answer is lost. */
export function callsOf(step: Step): PlannedCall[] {
  return sketch(step).map(([service, method, route]) => ({ service, method, route }));
}

function sketch(step: Step): readonly Sketch[] {
  switch (step.type) {
    case "add-finalizer":
    case "remove-finalizer":
    case "annotate":
      return [["kubernetes", "PATCH", "/services/{name}"]];
    case "clear-status":
      return [["kubernetes", "PATCH", "/services/{name}/status"]];
    case "create-floating-ip":
      return [["network", "POST", "/floatingips"]];
    case "attach-floating-ip":
    case "describe-floating-ip":
    case "detach-floating-ip":
      return [["network", "PUT", "/floatingips/{id}"]];
    case "delete-floating-ip":
      return [["network", "DELETE", "/floatingips/{id}"]];
    case "create-load-balancer":
      return [
        ["load-balancer", "GET", "/loadbalancers?name={name}"],
        ["load-balancer", "POST", "/loadbalancers"],
      ];
    case "of-second":
      return sketch(step.step);
    case "failover":
      return [["load-balancer", "PUT", "/loadbalancers/{id}/failover"]];
    default: {
      const { method, route } = treeCall(step.type);
      return [["load-balancer", method, route]];
    }
  }
}
