import type { Machine, MagnumClusterStatus } from "@causeway/api";
import { getCondition, isTrue } from "@causeway/kubernetes";
import type { Observed } from "./gather.ts";

type Health = Pick<MagnumClusterStatus, "health" | "healthReason">;

const MOST_NODES = 500;

/** The verdict on a cluster, as Magnum's drivers give it: "api" and "NODE.Ready" by name. */
export function healthOf({ controlPlane, machines }: Observed): Health {
  if (controlPlane?.status?.initialization?.controlPlaneInitialized !== true)
    return { health: "UNKNOWN", healthReason: {} };
  const available = getCondition(controlPlane.status.conditions, "Available");
  const isServed = available?.status === "True";
  const api = isServed ? "ok" : (available?.message ?? "not available").slice(0, 500);
  const nodes = machines
    .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.nodeRef !== undefined)
    .slice(0, MOST_NODES)
    .map((machine) => [`${machine.status?.nodeRef?.name ?? machine.metadata.name}.Ready`, readiness(machine)] as const);
  const isHealthy = isServed && nodes.every(([, ready]) => ready === "True");
  return { health: isHealthy ? "HEALTHY" : "UNHEALTHY", healthReason: { api, ...Object.fromEntries(nodes) } };
}

function readiness({ status }: Machine): string {
  return isTrue(status?.conditions, "NodeReady") ? "True" : "False";
}
