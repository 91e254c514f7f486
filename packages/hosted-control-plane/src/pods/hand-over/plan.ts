import type { Plan } from "@causeway/kubernetes";
import type { Observed } from "./gather.ts";
import { acknowledgement } from "./request.ts";
import type { Step } from "./steps.ts";

/**
 * A management cluster that is to receive a control plane says that it sees it: so it works on the same service
 * cluster. One that is to give it away, and does not work on it since it started, says so, too.
 */
export function plan({ namespaces, settings }: Observed): Plan<Step, undefined> {
  const steps = namespaces
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((namespace) => acknowledgement(namespace, settings))
    .filter((step) => typeof step !== "string");
  return { steps, status: undefined };
}
