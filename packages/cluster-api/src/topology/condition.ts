import type { WantedCondition } from "@causeway/kubernetes";
import { CLUSTER_UPGRADING, WORKERS_DEFERRED } from "../objects/topology-reports.ts";
import { blockingHooks } from "../runtime/hooks.ts";
import type { Observed } from "./observed.ts";
import type { Upgrades, WorkersProgress } from "./upgrades.ts";
import { isSameVersion } from "../objects/versions.ts";

const type = "TopologyReconciled";

/** What the condition TopologyReconciled of a Cluster says: nothing is held back, or what is and why. */
export function topologyCondition({ cluster, obstacle, desired, hooks }: Observed): WantedCondition {
  if (cluster.metadata.deletionTimestamp)
    return { type, status: "False", reason: "Deleting", message: "Cluster is deleting" };
  if (obstacle) return { type, status: "False", reason: obstacle.reason, message: obstacle.message };
  const version = cluster.spec.topology?.version ?? "";
  const lines = desired
    ? upgradeLines(desired.upgrades, { kind: desired.controlPlane.object.kind.kind, desired: version })
    : [];
  const held = [...hooks.blocking, ...hooks.failed.filter(({ hook }) => blockingHooks.has(hook))];
  if (!desired || lines.length + held.length === 0) return { type, status: "True", reason: "ReconcileSucceeded" };
  const waits = held.map(({ hook, message: why }) => `Following hooks are blocking upgrade: ${hook}: ${why}`);
  const message = [`Cluster is upgrading to ${version}`, ...[...lines, ...waits].map((line) => `  * ${line}`)].join(
    "\n",
  );
  if (held.length > 0) return { type, status: "False", reason: "LifecycleHookBlocking", message };
  return {
    type,
    status: "False",
    reason: deferredOnly(desired.upgrades) ?? CLUSTER_UPGRADING,
    message,
  };
}

/** A part of the topology has not reached its version yet, or may not go there yet. */
export function isUpgrading({ controlPlaneMoves, controlPlanePending, deployments, machinePools }: Upgrades): boolean {
  const isBehind = ({ upgrading, pending, deferred }: WorkersProgress) =>
    upgrading.length + pending.length + deferred.length > 0;
  return controlPlaneMoves || controlPlanePending || isBehind(deployments) || isBehind(machinePools);
}

/** The reason while only the user's annotations hold the upgrade back. */
function deferredOnly({ controlPlaneMoves, deployments, machinePools }: Upgrades): string | undefined {
  const moves = [deployments, machinePools].some(({ upgrading, pending }) => upgrading.length + pending.length > 0);
  if (controlPlaneMoves || moves) return undefined;
  if (deployments.deferred.length > 0) return WORKERS_DEFERRED;
  return machinePools.deferred.length > 0 ? "MachinePoolsUpgradeDeferred" : undefined;
}

function upgradeLines(
  upgrades: Upgrades,
  { kind, desired }: { readonly kind: string; readonly desired: string },
): string[] {
  const { controlPlane, path } = upgrades;
  return [
    ...(upgrades.controlPlaneMoves
      ? [`${kind} upgrading to version ${controlPlane}${later(path.controlPlane, controlPlane)}`]
      : []),
    ...(upgrades.controlPlanePending
      ? [`${kind} pending upgrade to version ${path.controlPlane.join(", ") || desired}`]
      : []),
    ...workerLines(upgrades, desired, { kind: "MachineDeployment", ...upgrades.deployments }),
    ...workerLines(upgrades, desired, { kind: "MachinePool", ...upgrades.machinePools }),
  ];
}

function later(versions: readonly string[], controlPlane: string): string {
  const left = versions.filter((one) => !isSameVersion(one, controlPlane));
  return left.length > 0 ? ` (${left.join(", ")} pending)` : "";
}

function workerLines(
  { controlPlane, path, isProvisioning }: Upgrades,
  desired: string,
  { kind, upgrading, pending, deferred, waitingForCreation }: WorkersProgress & { readonly kind: string },
): string[] {
  const named = (names: readonly string[]) => listed(kind, names);
  return [
    ...(upgrading.length > 0
      ? [`${named(upgrading)} upgrading to version ${controlPlane}${later(path.workers, controlPlane)}`]
      : []),
    ...(pending.length > 0
      ? [`${named(pending)} pending upgrade to version ${path.workers.join(", ") || desired}`]
      : []),
    ...(deferred.length > 0
      ? [
          `${named(deferred)} upgrade to version ${controlPlane} deferred using defer-upgrade or hold-upgrade-sequence annotations`,
        ]
      : []),
    ...(waitingForCreation.length > 0
      ? [
          `${named(waitingForCreation)} creation deferred while control plane ${isProvisioning ? "creation" : "upgrade"} is in progress`,
        ]
      : []),
  ];
}

function listed(kind: string, names: readonly string[]): string {
  const sorted = names.toSorted();
  const [first = ""] = sorted;
  if (sorted.length === 1) return `${kind} ${first}`;
  const more = sorted.length > 3 ? `, ... (${sorted.length - 3} more)` : "";
  return `${kind}s ${sorted.slice(0, 3).join(", ")}${more}`;
}
