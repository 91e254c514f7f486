import type { HostedControlPlane, Machine, MagnumClusterStatus } from "@causeway/api";
import { getCondition, isTrue } from "@causeway/kubernetes";
import { addonFinding } from "./addon-status.ts";
import type { Decided } from "./plan-desired.ts";
import { publicMessage, publicText } from "./public-text.ts";

type Health = Pick<MagnumClusterStatus, "health" | "healthReason" | "kubeletReached">;

const MOST_NODES = 500;

/**
 * The verdict on a cluster, as Magnum's drivers give it: "api" and "NODE.Ready" by name; "NODE.kubelet" where the
 * control plane does not reach a kubelet, and "addons" where one fails. What was probed counts more than what the
 * control plane's controller says.
 */
export function healthOf(observed: Decided): Health {
  const { controlPlane, machines, probe } = observed;
  const reached = reachedOf(observed);
  if (controlPlane?.status?.initialization?.controlPlaneInitialized !== true)
    return { health: "UNKNOWN", healthReason: {}, ...reached };
  const api = apiState(observed, controlPlane);
  const { node, state } = probe?.kubelet ?? { node: "", state: "ok" };
  const kubelet = state === "ok" ? {} : { [`${node}.kubelet`]: state };
  const nodes = machines
    .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.nodeRef !== undefined)
    .slice(0, MOST_NODES)
    .map((machine) => [`${machine.status?.nodeRef?.name ?? machine.metadata.name}.Ready`, readiness(machine)] as const);
  const addons = addonFinding(observed);
  const found = addons === undefined ? {} : { addons: addons.message.slice(0, 500) };
  const isWhole = api === "ok" && state === "ok" && addons === undefined;
  const isHealthy = isWhole && nodes.every(([, ready]) => ready === "True");
  return {
    health: isHealthy ? "HEALTHY" : "UNHEALTHY",
    healthReason: { api, ...found, ...Object.fromEntries(nodes), ...kubelet },
    ...reached,
  };
}

/** What the probe found of an API that is available, or why it is not. */
function apiState({ object, probe }: Decided, controlPlane: HostedControlPlane): string {
  const available = getCondition(controlPlane.status?.conditions, "Available");
  if (available?.status === "True") return publicText(probe?.api ?? "ok", object.metadata.namespace ?? "");
  const message = available === undefined ? "" : publicMessage(controlPlane, available);
  return (message === "" ? "not available" : message).slice(0, 500);
}

/** Whether a kubelet was reached once: it is kept, also when the control plane is away. */
function reachedOf({ object, probe }: Decided): Pick<Health, "kubeletReached"> {
  const isReached = object.status?.kubeletReached === true || probe?.kubelet?.state === "ok";
  return isReached ? { kubeletReached: true } : {};
}

function readiness({ status }: Machine): string {
  return isTrue(status?.conditions, "NodeReady") ? "True" : "False";
}
