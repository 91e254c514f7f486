import type { KubeObject } from "@causeway/kubernetes";
import { at, text, timestamp, type Json } from "../json/json.ts";

/** The condition for whether the priority level that a FlowSchema names exists. */
export function danglingCondition(schema: KubeObject, isThere: boolean, now: number): Json {
  const level = text(at(schema, "spec", "priorityLevelConfiguration", "name"));
  const named = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`;
  return {
    type: "Dangling",
    status: isThere ? "False" : "True",
    lastTransitionTime: timestamp(now),
    reason: isThere ? "Found" : "NotFound",
    message: isThere ? `${named} and it exists` : `${named} but there is no such object`,
  };
}
