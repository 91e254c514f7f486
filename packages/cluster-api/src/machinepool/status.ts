import type { MachinePool, MachinePoolStatus } from "@causeway/api";
import type { Node, WantedCondition } from "@causeway/kubernetes";
import { whyAbsent, type Referred } from "../contract/kind-table.ts";
import {
  conditionOf,
  dataSecretNameOf,
  isProvisioned,
  providerIDsOf,
  replicaCountsOf,
  type ProviderObject,
} from "../contract/provider-object.ts";
import { scalingConditions } from "../machineset/status.ts";
import { notPaused, settleConditions } from "../objects/conditions.ts";
import type { Observed } from "./observed.ts";

type Phase = NonNullable<MachinePoolStatus["phase"]>;

/** The whole status, from what the provider reports and the Nodes of its instances. */
export function machinePoolStatus(observed: Observed, now: number): MachinePoolStatus {
  const { pool } = observed;
  const { generation } = pool.metadata;
  const initialization = initializationOf(observed);
  const counts = countsOf(observed);
  const wanted = pool.metadata.deletionTimestamp ? 0 : (pool.spec.replicas ?? 1);
  const conditions: WantedCondition[] = [
    available(wanted, counts.availableReplicas),
    bootstrapReady(observed),
    infrastructureReady(observed),
    ...scalingConditions({ wanted, current: counts.replicas }),
    pool.metadata.deletionTimestamp
      ? { type: "Deleting", status: "True", reason: "Deleting" }
      : { type: "Deleting", status: "False", reason: "NotDeleting" },
    notPaused,
  ];
  return {
    conditions: settleConditions(conditions, { previous: pool.status?.conditions, generation, now }),
    initialization,
    ...counts,
    phase: phaseOf(pool, initialization, { wanted, ready: counts.readyReplicas, joined: counts.nodeRefs?.length ?? 0 }),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

/** What was true once remains true. */
function initializationOf({ pool, infrastructure, bootstrap }: Observed) {
  const before = pool.status?.initialization;
  const made = bootstrap?.object !== undefined && dataSecretNameOf(bootstrap.object) !== undefined;
  const given = !bootstrap && pool.spec.template.spec.bootstrap.dataSecretName !== undefined;
  const provisioned = infrastructure.object !== undefined && isProvisioned(infrastructure.object);
  return {
    bootstrapDataSecretCreated: before?.bootstrapDataSecretCreated === true || made || given,
    infrastructureProvisioned: before?.infrastructureProvisioned === true || provisioned,
  };
}

interface Counts {
  readonly replicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
  readonly upToDateReplicas: number;
  readonly nodeRefs?: NonNullable<MachinePoolStatus["nodeRefs"]>;
}

/**
 * Replicas as the infrastructure reports them; readiness from the Nodes. While these cannot be read the last known
 * counts remain.
 */
function countsOf({ pool, infrastructure, workload }: Observed): Counts {
  const before = pool.status;
  const host = infrastructure.object;
  const replicas = (host && replicaCountsOf(host).replicas) ?? before?.replicas ?? 0;
  if (workload.reach === "unreachable") {
    const { readyReplicas = 0, availableReplicas = 0, upToDateReplicas = 0, nodeRefs } = before ?? {};
    return { replicas, readyReplicas, availableReplicas, upToDateReplicas, ...(nodeRefs ? { nodeRefs } : {}) };
  }
  const ids = new Set((host && providerIDsOf(host)) ?? pool.spec.providerIDList ?? []);
  const nodes = workload.nodes.filter(({ spec }) => ids.has(spec?.providerID ?? ""));
  const ready = nodes.filter(isReadyNode).length;
  const version = pool.spec.template.spec.version;
  const current = nodes.filter(({ status }) => !version || status?.nodeInfo?.["kubeletVersion"] === version).length;
  const nodeRefs = nodes
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map(({ metadata }) => ({
      apiVersion: "v1",
      kind: "Node",
      name: metadata.name,
      ...(metadata.uid ? { uid: metadata.uid } : {}),
    }));
  return {
    replicas,
    readyReplicas: ready,
    availableReplicas: ready,
    upToDateReplicas: current,
    ...(nodeRefs.length > 0 ? { nodeRefs } : {}),
  };
}

function isReadyNode({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
}

function available(wanted: number, count: number): WantedCondition {
  if (count >= wanted) return { type: "Available", status: "True", reason: "Available" };
  const message = `${count} of ${wanted} replicas have a Node that is ready`;
  return { type: "Available", status: "False", reason: "NotAvailable", message };
}

function bootstrapReady({ pool, bootstrap }: Observed): WantedCondition {
  const type = "BootstrapConfigReady";
  if (bootstrap) return mirrored(type, bootstrap, (object) => dataSecretNameOf(object) !== undefined);
  if (pool.spec.template.spec.bootstrap.dataSecretName !== undefined)
    return { type, status: "True", reason: "DataSecretProvided" };
  const message = "spec.template.spec.bootstrap names neither a configuration nor a Secret";
  return { type, status: "False", reason: "BootstrapConfigDoesNotExist", message };
}

function infrastructureReady({ infrastructure }: Observed): WantedCondition {
  return mirrored("InfrastructureReady", infrastructure, isProvisioned);
}

function mirrored(
  type: string,
  referred: Referred<ProviderObject>,
  isReady: (object: ProviderObject) => boolean,
): WantedCondition {
  const { object, reference } = referred;
  if (!object) return { type, status: "False", reason: "DoesNotExist", message: whyAbsent(referred) };
  const ready = conditionOf(object, "Ready");
  if (ready) return { type, status: ready.status, reason: ready.reason || "Ready", message: ready.message ?? "" };
  if (isReady(object)) return { type, status: "True", reason: "Ready" };
  const message = `${reference.kind} ${reference.name} has not been provided yet`;
  return { type, status: "False", reason: "NotReady", message };
}

function phaseOf(
  pool: MachinePool,
  initialization: NonNullable<MachinePoolStatus["initialization"]>,
  { wanted, ready, joined }: { readonly wanted: number; readonly ready: number; readonly joined: number },
): Phase {
  if (pool.metadata.deletionTimestamp) return "Deleting";
  if (!initialization.bootstrapDataSecretCreated) return "Pending";
  if (!initialization.infrastructureProvisioned) return "Provisioning";
  if (ready === wanted) return "Running";
  if (joined === 0) return "Provisioned";
  return ready < wanted ? "ScalingUp" : "ScalingDown";
}
