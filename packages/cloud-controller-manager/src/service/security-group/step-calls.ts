import type { PlannedCall } from "../step-calls.ts";
import type { Step } from "./steps.ts";

/** The calls of a step where none is refused and no answer is lost. */
export function callsOfGroup(step: Step): PlannedCall[] {
  switch (step.type) {
    case "create-group":
      return [call("GET", "/security-groups?name={name}"), call("POST", "/security-groups")];
    case "add-rules":
      return [call("POST", "/security-group-rules"), call("GET", "/security-groups/{id}")];
    case "remove-rules":
      return [
        ...step.ids.map(() => call("DELETE", "/security-group-rules/{id}")),
        call("GET", "/security-groups/{id}"),
      ];
    case "set-port-groups":
      return step.ports.map(() => call("PUT", "/ports/{id}"));
    case "delete-group":
      return [call("DELETE", "/security-groups/{id}")];
  }
}

function call(method: PlannedCall["method"], route: string): PlannedCall {
  return { service: "network", method, route };
}
