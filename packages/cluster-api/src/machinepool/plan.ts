import { annotations, finalizers, labels, Machine, MachinePool, taints, type MachinePoolStatus } from "@causeway/api";
import { ownerReference, type Node, type Plan, type PlannedEvent } from "@causeway/kubernetes";
import { whyAbsent, type Referred } from "../contract/kind-table.ts";
import { dataSecretNameOf, isProvisioned, providerIDsOf, type ProviderObject } from "../contract/provider-object.ts";
import { finalizerRemoval, lockOf, metadataPatch, missing } from "../objects/metadata.ts";
import { pausedPlan } from "../objects/paused.ts";
import { deleteStep, patchStep } from "../objects/steps.ts";
import type { Observed } from "./observed.ts";
import { memberSteps } from "./members.ts";
import { machinePoolStatus } from "./status.ts";
import type { MachinePoolStep } from "./steps.ts";

/** Steps are in the management cluster, and on Nodes in the workload cluster. */
export type MachinePoolPlan = Plan<MachinePoolStep, MachinePoolStatus>;

/**
 * What to do for a MachinePool: its provider objects belong to it, their bootstrap data and provider IDs are copied,
 * and the Nodes of those IDs are its machines.
 */
export function plan(observed: Observed, now: number): MachinePoolPlan {
  const { pool } = observed;
  const paused = pausedPlan(pool, observed.cluster, now);
  if (paused) return paused;
  const steps = pool.metadata.deletionTimestamp ? removal(observed) : upkeep(observed);
  return { steps, status: machinePoolStatus(observed, now), wait: { for: waitFor(observed) } };
}

function upkeep(observed: Observed): MachinePoolStep[] {
  const { pool, cluster, infrastructure, bootstrap } = observed;
  if (!cluster) return [];
  const own = metadataPatch(pool, {
    finalizer: finalizers.machinePool,
    labels: { [labels.clusterName]: pool.spec.clusterName },
    owner: ownerReference(cluster),
  });
  return [
    ...patchStep(MachinePool, pool, own),
    ...adoption(infrastructure, pool),
    ...(bootstrap ? adoption(bootstrap, pool) : []),
    ...specCopies(observed),
    ...memberSteps(observed),
    ...nodeUpkeep(observed),
  ];
}

function adoption({ object, kind }: Referred, pool: MachinePool): MachinePoolStep[] {
  if (!object || !kind || object.metadata.deletionTimestamp) return [];
  const owner = ownerReference(pool, { controller: true });
  return patchStep(
    kind,
    object,
    metadataPatch(object, { owner, labels: { [labels.clusterName]: pool.spec.clusterName } }),
  );
}

/**
 * The name of the data Secret and the provider IDs; a list that the infrastructure does not report yet is left as it
 * is.
 */
function specCopies({ pool, infrastructure, bootstrap }: Observed): MachinePoolStep[] {
  const secret = bootstrap?.object && dataSecretNameOf(bootstrap.object);
  const ids =
    infrastructure.object && isProvisioned(infrastructure.object) ? providerIDsOf(infrastructure.object) : undefined;
  const standing = pool.spec.template.spec.bootstrap.dataSecretName;
  const changes = {
    ...(secret && standing !== secret ? { template: { spec: { bootstrap: { dataSecretName: secret } } } } : {}),
    ...(ids && !same(ids, pool.spec.providerIDList ?? []) ? { providerIDList: ids } : {}),
  };
  return patchStep(MachinePool, pool, Object.keys(changes).length > 0 ? { spec: changes } : undefined);
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, at) => value === b[at]);
}

/** Marks the pool's Nodes, and deletes those whose machines the infrastructure has given up. */
function nodeUpkeep({ pool, workload, infrastructure, members }: Observed): MachinePoolStep[] {
  // Machines mark their Nodes themselves, and drain them before they go.
  if (members) return [];
  if (workload.reach === "unreachable" || !infrastructure.object || !isProvisioned(infrastructure.object)) return [];
  const ids = new Set(providerIDsOf(infrastructure.object) ?? pool.spec.providerIDList ?? []);
  return workload.nodes
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .flatMap((node) => (ids.has(node.spec?.providerID ?? "") ? nodePatch(node, pool) : deletion(node)));
}

function nodePatch(node: Node, pool: MachinePool): MachinePoolStep[] {
  const notes = missing(node.metadata.annotations, {
    [annotations.clusterName]: pool.spec.clusterName,
    [annotations.clusterNamespace]: pool.metadata.namespace ?? "",
    [annotations.ownerKind]: MachinePool.kind,
    [annotations.ownerName]: pool.metadata.name,
  });
  const present = node.spec?.taints ?? [];
  const kept = present.filter(({ key }) => key !== taints.uninitialized);
  if (!notes && kept.length === present.length) return [];
  const metadata = { ...lockOf(node), ...(notes ? { annotations: notes } : {}) };
  const spec = kept.length === present.length ? {} : { spec: { taints: kept } };
  return [{ type: "patch-node", name: node.metadata.name, body: { metadata, ...spec } }];
}

function deletion({ metadata }: Node): MachinePoolStep[] {
  return [{ type: "delete-node", name: metadata.name, uid: metadata.uid ?? "" }];
}

/** Infrastructure and bootstrap first; once both are gone the Nodes, then the finalizer. */
function removal(observed: Observed): MachinePoolStep[] {
  const { pool, infrastructure, bootstrap, workload, cluster, machines } = observed;
  const providers = [infrastructure, ...(bootstrap ? [bootstrap] : [])];
  const left = providers.filter(({ object }) => object);
  if (left.length > 0) return left.flatMap(({ kind, object }) => (kind && object ? deleteStep(kind, object) : []));
  if (providers.some(({ kind }) => !kind) && pool.status?.initialization?.infrastructureProvisioned) return [];
  if (machines.length > 0) return machines.flatMap((machine) => deleteStep(Machine, machine));
  const nodes = workload.reach === "connected" && !cluster?.metadata.deletionTimestamp ? workload.nodes : [];
  const living = nodes.filter(({ metadata }) => !metadata.deletionTimestamp);
  if (living.length > 0) return living.flatMap(deletion);
  return patchStep(MachinePool, pool, finalizerRemoval(pool, finalizers.machinePool));
}

function waitFor({ pool, cluster, infrastructure, bootstrap }: Observed): string {
  if (pool.metadata.deletionTimestamp) return "the pool's provider objects to be deleted";
  if (!cluster) return `Cluster ${pool.spec.clusterName}`;
  const absent: Referred<ProviderObject> | undefined = [infrastructure, ...(bootstrap ? [bootstrap] : [])].find(
    ({ object }) => !object,
  );
  return absent ? whyAbsent(absent) : "changes";
}

/** The events of a step that was performed. */
export function machinePoolStepEvents(step: MachinePoolStep): PlannedEvent[] {
  if (step.type === "delete") {
    return [{ type: "Normal", reason: "Deleting", message: `Deleting ${step.resource.kind} ${step.key.name}` }];
  }
  if (step.type === "create") {
    const message = `Created Machine ${step.object.metadata.name} for a machine of the infrastructure`;
    return [{ type: "Normal", reason: "SuccessfulCreate", message }];
  }
  if (step.type !== "delete-node") return [];
  return [{ type: "Normal", reason: "DeletingNode", message: `Deleting Node ${step.name}` }];
}
