import type { OpenStackDeploymentStatus } from "@causeway/api";
import type { PlannedEvent } from "@causeway/kubernetes";

type Components = OpenStackDeploymentStatus["components"];

/**
 * One event for each component that failed or recovered, and one when all are ready. An object has a burst of 25
 * events, then one in five minutes: one for each component that becomes ready would use up those that a person needs.
 */
export function eventsOf(before: Components, after: Components): PlannedEvent[] {
  const previous = new Map((before ?? []).map(({ name, state }) => [name, state]));
  const each = (after ?? []).flatMap(({ name, state, step, rootCause }): PlannedEvent[] => {
    if (previous.get(name) === state) return [];
    if (state === "Failed") {
      // A root cause begins with the component that it is in.
      const message = rootCause?.startsWith(`${name}: `) ? rootCause : `${name}: ${rootCause ?? step ?? ""}`;
      return [{ type: "Warning", reason: "ComponentFailed", message }];
    }
    if (state === "Ready" && previous.get(name) === "Failed")
      return [{ type: "Normal", reason: "ComponentRecovered", message: `${name}: ${step ?? ""}` }];
    return [];
  });
  const areReady = (components: Components) => components?.every(({ state }) => state === "Ready") === true;
  if (!areReady(after) || areReady(before)) return each;
  return [...each, { type: "Normal", reason: "Ready", message: `All ${after?.length ?? 0} components are ready` }];
}
