import { Cluster, finalizers, Machine, MachineDeployment, MachinePool, MachineSet } from "@causeway/api";
import { controllerOf, type KubeObject, type ResourceType, type WantedCondition } from "@causeway/kubernetes";
import { listing } from "../objects/conditions.ts";
import { finalizerRemoval } from "../objects/metadata.ts";
import { deleteStep, patchStep, type ObjectStep } from "../objects/steps.ts";
import { whyAbsent, type Referred } from "../contract/kind-table.ts";
import { machinesByRole } from "./conditions.ts";
import type { Observed } from "./observed.ts";

/** The stage of a Cluster's deletion: what to do now, and what the condition Deleting says. */
export interface ClusterDeletion {
  readonly steps: readonly ObjectStep[];
  readonly condition: WantedCondition;
}

/** Workers, then the control plane, then what they used; each only once the one before is gone. */
export function planClusterDeletion(observed: Observed): ClusterDeletion {
  const { cluster, infrastructure, controlPlane } = observed;
  const been = cluster.status?.initialization;
  if (observed.isHeldByHook) {
    const message = "Waiting for the handlers of BeforeClusterDelete";
    return { steps: [], condition: deleting("WaitingForBeforeDeleteHook", message) };
  }
  return (
    workers(observed) ??
    provider(controlPlane, { reason: "WaitingForControlPlaneDeletion", wasThere: been?.controlPlaneInitialized }) ??
    provider(infrastructure, {
      reason: "WaitingForInfrastructureDeletion",
      wasThere: been?.infrastructureProvisioned,
    }) ?? {
      steps: patchStep(Cluster, cluster, finalizerRemoval(cluster, finalizers.cluster)),
      condition: deleting("DeletionCompleted", ""),
    }
  );
}

function deleting(reason: string, message: string): WantedCondition {
  return { type: "Deleting", status: "True", reason, message };
}

/** Owners delete what they own; what has no owner left is deleted here. */
function workers(observed: Observed): ClusterDeletion | undefined {
  const { deployments, pools, sets, controlPlane } = observed;
  // Machines of a control plane are its own to delete, after the workers.
  const machines = controlPlane ? machinesByRole(observed.machines).workerMachines : observed.machines;
  const left = [...deployments, ...pools, ...sets, ...machines];
  if (left.length === 0) return undefined;
  const alive = new Set(left.map(({ metadata }) => metadata.uid));
  const isFree = (object: KubeObject) => !alive.has(controllerOf(object)?.uid);
  const lines: [string, number][] = [
    ["MachineDeployments", deployments.length],
    ["MachinePools", pools.length],
    ["MachineSets", sets.length],
    ["Machines", machines.length],
  ];
  const counted = lines.filter(([, count]) => count > 0).map(([noun, count]) => `${noun}: ${count}`);
  return {
    steps: [
      ...removal(MachinePool, pools),
      ...removal(MachineDeployment, deployments),
      ...removal(MachineSet, sets.filter(isFree)),
      ...removal(Machine, machines.filter(isFree)),
    ],
    condition: deleting("WaitingForWorkersDeletion", listing(counted)),
  };
}

function removal(type: ResourceType<KubeObject>, objects: readonly KubeObject[]): ObjectStep[] {
  return objects.flatMap((object) => deleteStep(type, object));
}

/** An object of a kind without a provider here is not known to be deleted. */
function provider(
  reference: Referred | undefined,
  how: { readonly reason: string; readonly wasThere: boolean | undefined },
): ClusterDeletion | undefined {
  if (!reference) return undefined;
  const { object, kind } = reference;
  if (!kind) return how.wasThere ? { steps: [], condition: deleting(how.reason, whyAbsent(reference)) } : undefined;
  if (!object) return undefined;
  return {
    steps: deleteStep(kind, object),
    condition: deleting(how.reason, `${kind.kind} ${object.metadata.name} is being deleted`),
  };
}
