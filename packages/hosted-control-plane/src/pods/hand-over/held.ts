import type { ControlPlaneProblem } from "../../runtime.ts";
import { isBetween } from "../migration/served.ts";
import type { Observed } from "../observed.ts";
import type { Step } from "../steps.ts";
import { acknowledgement, isOwnedBy } from "./request.ts";

/**
 * Its own manager holds still from the moment at which it sees the request, and then says so. Undefined: it is not
 * handed over, or its data is on its way to another etcd, which comes to its end first.
 */
export function heldSteps(observed: Observed): Step[] | undefined {
  const { namespace, settings, spec } = observed;
  if (namespace === undefined || !isOwnedBy(namespace, settings.owner, spec.id) || isBetween(observed))
    return undefined;
  const acknowledged = acknowledgement(namespace, settings);
  if (acknowledged === "none") return undefined;
  return acknowledged === "given" ? [] : [acknowledged];
}

/** The pods run on. */
export const handedOver: ControlPlaneProblem = {
  code: "PODS_HANDED_OVER",
  message: "it is being handed over to another management cluster",
  actor: "none",
};
