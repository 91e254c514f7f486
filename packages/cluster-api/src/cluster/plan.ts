import { Cluster, finalizers, labels, type ClusterStatus } from "@causeway/api";
import { ownerReference, type Plan, type PlannedEvent } from "@causeway/kubernetes";
import {
  endpointOf,
  failureDomainsOf,
  isProvisioned,
  replicaCountsOf,
  type Endpoint,
} from "../contract/provider-object.ts";
import { countMachines } from "../machineset/status.ts";
import { settleConditions } from "../objects/conditions.ts";
import { metadataPatch } from "../objects/metadata.ts";
import { pausedPlan } from "../objects/paused.ts";
import { patchStep, type ObjectStep } from "../objects/steps.ts";
import { clusterConditions, hasControlPlane, machinesByRole, silenceAllowed } from "./conditions.ts";
import { planClusterDeletion } from "./deletion.ts";
import { whyAbsent, type Referred } from "../contract/kind-table.ts";
import type { Observed } from "./observed.ts";

/** Steps patch and delete what the Cluster refers to and owns; the status is the whole one. */
export type ClusterPlan = Plan<ObjectStep, ClusterStatus>;

/** What to do for a Cluster: it owns its provider objects, and their status is copied to it. */
export function plan(observed: Observed, now: number): ClusterPlan {
  const { cluster } = observed;
  const paused = pausedPlan(cluster, cluster, now);
  if (paused) return paused;
  const deletion = cluster.metadata.deletionTimestamp ? planClusterDeletion(observed) : undefined;
  const steps = deletion ? deletion.steps : upkeep(observed);
  const { generation } = cluster.metadata;
  const conditions = clusterConditions(observed, deletion?.condition, now);
  const status: ClusterStatus = {
    conditions: settleConditions(conditions, { previous: cluster.status?.conditions, generation, now }),
    initialization: initializationOf(observed),
    ...withUpgrades(observed, countersOf(observed)),
    ...failureDomains(observed),
    phase: phaseOf(observed),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  const lost = (observed.silentSince ?? -Infinity) + silenceAllowed;
  const wait = { for: waitFor(observed), ...(lost > now ? { until: lost } : {}) };
  return { steps, status, events: transitions(observed, status), wait };
}

function upkeep(observed: Observed): ObjectStep[] {
  const { cluster, infrastructure, controlPlane } = observed;
  const own = metadataPatch(cluster, { finalizer: finalizers.cluster });
  const endpoint = missingEndpoint(observed);
  return [
    ...patchStep(Cluster, cluster, own),
    ...adoption(cluster, infrastructure),
    ...adoption(cluster, controlPlane),
    ...patchStep(Cluster, cluster, endpoint ? { spec: { controlPlaneEndpoint: endpoint } } : undefined),
  ];
}

function adoption(cluster: Cluster, reference: Referred | undefined): ObjectStep[] {
  if (!reference?.object || !reference.kind || reference.object.metadata.deletionTimestamp) return [];
  const patch = metadataPatch(reference.object, {
    // Objects of a topology have their Cluster as controller (Cluster API contract).
    owner: ownerReference(cluster, { controller: cluster.spec.topology !== undefined }),
    labels: { [labels.clusterName]: cluster.metadata.name },
  });
  return patchStep(reference.kind, reference.object, patch);
}

/** The endpoint to take over: the infrastructure's, else the control plane's; never in place of an existing one. */
function missingEndpoint({ cluster, infrastructure, controlPlane }: Observed): Endpoint | undefined {
  const { host, port } = cluster.spec.controlPlaneEndpoint ?? {};
  if (host && port) return undefined;
  for (const reference of [infrastructure, controlPlane]) {
    const endpoint = reference?.object && endpointOf(reference.object);
    if (endpoint) return endpoint;
  }
  return undefined;
}

/** What was true once remains true: a provider object that fails does not reset a cluster. */
function initializationOf(observed: Observed): NonNullable<ClusterStatus["initialization"]> {
  const { cluster, infrastructure } = observed;
  const before = cluster.status?.initialization;
  const provisioned = infrastructure?.object !== undefined && isProvisioned(infrastructure.object);
  return {
    infrastructureProvisioned: before?.infrastructureProvisioned === true || provisioned,
    controlPlaneInitialized: hasControlPlane(observed),
  };
}

function countersOf({
  controlPlane,
  deployments,
  pools,
  machines,
}: Observed): Pick<ClusterStatus, "controlPlane" | "workers"> {
  const { workerMachines } = machinesByRole(machines);
  const desired = [...deployments, ...pools].reduce((total, { spec }) => total + (spec.replicas ?? 1), 0);
  const counts = countMachines(workerMachines);
  const ofPools = (name: "replicas" | "readyReplicas" | "availableReplicas" | "upToDateReplicas") =>
    pools.reduce((total, { status }) => total + (status?.[name] ?? 0), 0);
  return {
    ...(controlPlane?.object ? { controlPlane: replicaCountsOf(controlPlane.object) } : {}),
    workers: {
      desiredReplicas: desired,
      ...counts,
      replicas: counts.replicas + ofPools("replicas"),
      readyReplicas: counts.readyReplicas + ofPools("readyReplicas"),
      availableReplicas: counts.availableReplicas + ofPools("availableReplicas"),
      upToDateReplicas: counts.upToDateReplicas + ofPools("upToDateReplicas"),
    },
  };
}

/** The versions that an upgrade of the topology still passes through. */
function withUpgrades(
  { topology }: Observed,
  { controlPlane, workers }: Pick<ClusterStatus, "controlPlane" | "workers">,
): Pick<ClusterStatus, "controlPlane" | "workers"> {
  const plan = (versions: readonly string[] | undefined) =>
    versions?.length ? { upgradePlan: versions.map((version) => ({ version })) } : {};
  return {
    ...(controlPlane ? { controlPlane: { ...controlPlane, ...plan(topology?.controlPlaneUpgrades) } } : {}),
    workers: { ...workers, ...plan(topology?.workersUpgrades) },
  };
}

function failureDomains({ infrastructure }: Observed): Pick<ClusterStatus, "failureDomains"> {
  const domains = infrastructure?.object ? failureDomainsOf(infrastructure.object) : [];
  return domains.length > 0 ? { failureDomains: domains } : {};
}

function phaseOf(observed: Observed): NonNullable<ClusterStatus["phase"]> {
  const { cluster, infrastructure } = observed;
  if (cluster.metadata.deletionTimestamp) return "Deleting";
  const { host, port } = cluster.spec.controlPlaneEndpoint ?? {};
  if (initializationOf(observed).infrastructureProvisioned && host && port) return "Provisioned";
  return infrastructure ? "Provisioning" : "Pending";
}

/** The events of a step that was performed. */
export function clusterStepEvents(step: ObjectStep): PlannedEvent[] {
  if (step.type === "delete") {
    return [{ type: "Normal", reason: "Deleting", message: `Deleting ${step.resource.kind} ${step.key.name}` }];
  }
  const spec =
    step.type === "patch" ? (step.body["spec"] as { controlPlaneEndpoint?: Endpoint } | undefined) : undefined;
  if (!spec?.controlPlaneEndpoint) return [];
  const { host, port } = spec.controlPlaneEndpoint;
  return [{ type: "Normal", reason: "EndpointSet", message: `The API is at ${host}:${port}` }];
}

function transitions({ cluster }: Observed, status: ClusterStatus): PlannedEvent[] {
  const before = cluster.status;
  const after = status.initialization;
  const events: PlannedEvent[] = [];
  if (after?.infrastructureProvisioned && before?.initialization?.infrastructureProvisioned !== true) {
    events.push({ type: "Normal", reason: "InfrastructureReady", message: "The infrastructure is provisioned" });
  }
  if (after?.controlPlaneInitialized && before?.initialization?.controlPlaneInitialized !== true) {
    events.push({ type: "Normal", reason: "ControlPlaneInitialized", message: "The control plane responds" });
  }
  return events;
}

function waitFor({ cluster, infrastructure, controlPlane }: Observed): string {
  if (cluster.metadata.deletionTimestamp) return "all objects of the cluster to be deleted";
  if (infrastructure && !infrastructure.object) return whyAbsent(infrastructure);
  if (controlPlane && !controlPlane.object) return whyAbsent(controlPlane);
  return "changes";
}
