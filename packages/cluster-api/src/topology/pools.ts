import { labels, MachinePool, type Cluster, type ClusterClass } from "@causeway/api";
import { ownerReference } from "@causeway/kubernetes";
import type { KindTable } from "../contract/kind-table.ts";
import { workerBuiltins } from "./builtins.ts";
import { objectKind } from "./control-plane.ts";
import { objectFrom, ownedLabels, type MadeObject } from "./made-objects.ts";
import type { BlueprintTemplate, CurrentState } from "./model.ts";
import { nameFor, templateName } from "./names.ts";
import { TopologyProblem } from "./problem.ts";
import type { WorkersDecision, WorkersVersion } from "./upgrades.ts";
import { marksOf, nameOr, workerReference, type WorkersInput } from "./workers.ts";

type PoolClass = NonNullable<NonNullable<ClusterClass["spec"]["workers"]>["machinePools"]>[number];
/** An entry of `spec.topology.workers.machinePools`. */
export type PoolTopology = NonNullable<
  NonNullable<NonNullable<Cluster["spec"]["topology"]>["workers"]>["machinePools"]
>[number];

/** A MachinePool of a topology, with the objects that it refers to. */
export interface DesiredPool {
  readonly topologyName: string;
  readonly pool: MadeObject;
  readonly bootstrap: MadeObject;
  readonly infrastructure: MadeObject;
  readonly decision: WorkersDecision;
}

/** The one MachinePool of a name in the topology that is not being deleted. @throws TopologyProblem */
function currentPool(current: CurrentState, topologyName: string): MachinePool | undefined {
  const found = current.pools.filter(
    ({ metadata }) => metadata.labels?.[labels.topologyPoolName] === topologyName && !metadata.deletionTimestamp,
  );
  if (found.length < 2) return found[0];
  const names = found.map(({ metadata }) => metadata.name).join(", ");
  throw new TopologyProblem(
    `MachinePools ${names} have the same topology name ${JSON.stringify(topologyName)}: delete all but one`,
  );
}

/** A pool is upgrading while the kubelet of one of its Nodes has another version, or while that is not known yet. */
export function poolVersion(current: CurrentState, { name, metadata }: PoolTopology): WorkersVersion {
  const existing = currentPool(current, name);
  const notes = metadata?.annotations ?? {};
  if (!existing) return { topologyName: name, notes };
  const { version } = existing.spec.template.spec;
  const { nodeRefs = [], upToDateReplicas = 0, observedGeneration } = existing.status ?? {};
  const isCurrent = observedGeneration === existing.metadata.generation && upToDateReplicas >= nodeRefs.length;
  const isUpgrading = version !== undefined && nodeRefs.length > 0 && !isCurrent;
  return { topologyName: name, notes, current: { name: existing.metadata.name, version, isUpgrading } };
}

/** Its objects are changed in place: the provider replaces the machines. @throws TopologyProblem */
export function desiredPool(
  input: WorkersInput & { readonly kinds: KindTable },
  topology: PoolTopology,
  decision: WorkersDecision,
): DesiredPool {
  const { cluster, blueprint, current, variables, patcher, kinds } = input;
  const { workers } = blueprint.class.spec;
  const templates = blueprint.pools.get(topology.class);
  const poolClass = workers?.machinePools?.find((one) => one.class === topology.class);
  if (!templates || !poolClass) {
    throw new TopologyProblem(
      `MachinePool class ${JSON.stringify(topology.class)} not found in ClusterClass ${blueprint.class.metadata.name}`,
    );
  }
  const existing = currentPool(current, topology.name);
  const own = { [labels.topologyPoolName]: topology.name };
  const refer = (template: BlueprintTemplate, role: "bootstrap" | "infrastructure"): Reference => {
    const kind = objectKind(kinds, template);
    const { bootstrap, infrastructureRef } = existing?.spec.template.spec ?? {};
    const standing = nameOr(role === "bootstrap" ? bootstrap?.configRef : infrastructureRef, { kind });
    const prefix = `${cluster.metadata.name}-${topology.name}`;
    const name = standing ?? templateName(cluster, prefix, `pool/${topology.name}/${role}`);
    return { apiGroup: kind.group, kind: kind.kind, name };
  };
  const references = {
    bootstrap: refer(templates.bootstrap, "bootstrap"),
    infrastructure: refer(templates.infrastructure, "infrastructure"),
  };
  const { version } = decision;
  const pool = poolOf(cluster, { topology, poolClass, references, version, existing });
  const path = `spec.topology.workers.machinePools[${topology.name}].variables.overrides`;
  const given = variables.overrides(topology.variables?.overrides ?? [], path);
  if (given.problems.length > 0) throw new TopologyProblem(given.problems.join("; "));
  const builtin = { machinePool: workerBuiltins(pool, topology) };
  const made = (template: BlueprintTemplate, name: string, fieldPath: string) => {
    const patched = patcher.patch({
      template: template.object,
      holder: { type: "machinePool", class: topology.class },
      reference: workerReference(pool, fieldPath),
      overrides: given.values,
      builtin,
    });
    return objectFrom(template, patched, objectKind(kinds, template), { cluster, name, labels: own, shared: true });
  };
  return {
    topologyName: topology.name,
    pool: { kind: MachinePool, object: pool } as MadeObject,
    bootstrap: made(templates.bootstrap, references.bootstrap.name, "spec.template.spec.bootstrap.configRef"),
    infrastructure: made(
      templates.infrastructure,
      references.infrastructure.name,
      "spec.template.spec.infrastructureRef",
    ),
    decision,
  };
}

interface Reference {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

interface PoolInput {
  readonly topology: PoolTopology;
  readonly poolClass: PoolClass;
  readonly references: { readonly bootstrap: Reference; readonly infrastructure: Reference };
  readonly version: string;
  readonly existing: MachinePool | undefined;
}

function poolOf(cluster: Cluster, input: PoolInput): MachinePool {
  const { topology, poolClass, references, version, existing } = input;
  const { name: clusterName, namespace } = cluster.metadata;
  const marks = marksOf(poolClass, topology, { ...ownedLabels(cluster), [labels.topologyPoolName]: topology.name });
  const deletion = { ...poolClass.deletion, ...topology.deletion };
  const failureDomains = topology.failureDomains ?? poolClass.failureDomains;
  const minReadySeconds = topology.minReadySeconds ?? poolClass.minReadySeconds;
  const taints = topology.taints ?? poolClass.taints;
  return {
    apiVersion: `${MachinePool.group}/${MachinePool.version}`,
    kind: MachinePool.kind,
    metadata: {
      name: existing?.metadata.name ?? nameOf(cluster, poolClass, topology),
      ...(namespace === undefined ? {} : { namespace }),
      ...marks,
      ownerReferences: [ownerReference(cluster)],
    },
    spec: {
      clusterName,
      ...(topology.replicas === undefined ? {} : { replicas: topology.replicas }),
      ...(failureDomains ? { failureDomains } : {}),
      template: {
        metadata: marks,
        spec: {
          clusterName,
          version,
          bootstrap: { configRef: references.bootstrap },
          infrastructureRef: references.infrastructure,
          ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
          ...(taints ? { taints } : {}),
          ...(Object.keys(deletion).length > 0 ? { deletion } : {}),
        },
      },
    },
  };
}

function nameOf(cluster: Cluster, { naming }: PoolClass, { name }: PoolTopology): string {
  const template = naming?.template ?? "{{ .cluster.name }}-{{ .machinePool.topologyName }}-{{ .random }}";
  return nameFor(cluster, `pool/${name}`, { template, data: { machinePool: { topologyName: name } } });
}
