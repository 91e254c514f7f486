import { annotations, type Cluster } from "@causeway/api";
import type { KindTable } from "../contract/kind-table.ts";
import { controlPlaneSpecVersionOf, statusVersionOf } from "../contract/provider-object.ts";
import { classVariables } from "../variables/class-variables.ts";
import type { VariableValue } from "../variables/cluster-variables.ts";
import { VariableEvaluation } from "../variables/evaluation.ts";
import { isStoredAlike } from "../objects/versions.ts";
import { clusterBuiltins } from "./builtins.ts";
import {
  clusterReference,
  defaultNaming,
  desiredControlPlane,
  objectKind,
  type ControlPlaneInput,
  type DesiredControlPlane,
} from "./control-plane.ts";
import type { Hold } from "./hooks.ts";
import type { Blueprint, CurrentState } from "./model.ts";
import { objectFrom, type MadeObject } from "./made-objects.ts";
import { nameFor } from "./names.ts";
import type { Generated } from "./generated.ts";
import { TemplatePatcher } from "./patcher.ts";
import { desiredPool, poolVersion, type DesiredPool } from "./pools.ts";
import { TopologyProblem } from "./problem.ts";
import { planUpgrades, type Upgrades } from "./upgrades.ts";
import { currentDeployment, desiredWorkers, type DesiredWorkers } from "./workers.ts";

/** What a topology asks for now: upgrades take several turns. */
export interface Desired {
  /** The Cluster's variables with their defaults. */
  readonly variables: readonly VariableValue[];
  readonly infrastructure: MadeObject;
  readonly controlPlane: DesiredControlPlane;
  readonly workers: readonly DesiredWorkers[];
  readonly pools: readonly DesiredPool[];
  readonly upgrades: Upgrades;
  /** The templates as its patches left them. */
  readonly patcher: Pick<TemplatePatcher, "items" | "variablesFor">;
}

/** What the objects of a topology are computed from. */
export interface DesiredInput {
  readonly cluster: Cluster;
  readonly blueprint: Blueprint;
  readonly current: CurrentState;
  readonly kinds: KindTable;
  readonly hold?: Hold;
  /** What extensions made of the external patches. */
  readonly generated?: Generated;
  /** Patches of the class that are applied: the first ones. Default: all. */
  readonly patches?: number;
  /** Where the variables are judged for several computations of the same Cluster. Default: for this one. */
  readonly variables?: VariableEvaluation;
}

/** Computes the objects of a topology from its ClusterClass. Pure. @throws TopologyProblem */
export function desiredState(input: DesiredInput): Desired {
  const { cluster, blueprint, current, kinds } = input;
  const { topology } = cluster.spec;
  if (!topology) throw new TopologyProblem("spec.topology is not set");
  const definitions = classVariables(blueprint.class);
  const variables = input.variables ?? new VariableEvaluation(definitions);
  const verdict = variables.cluster(topology.variables ?? []);
  if (verdict.problems.length > 0) throw new TopologyProblem(verdict.problems.join("; "));
  const upgrades = upgradesOf(input);
  const patcher = new TemplatePatcher({
    cluster,
    class: blueprint.class,
    count: input.patches ?? Infinity,
    definitions,
    variables: verdict.values,
    builtins: clusterBuiltins(cluster),
    generated: input.generated ?? new Map(),
  });
  const shared = { cluster, blueprint, current, kinds, patcher, variables };
  const infrastructure = desiredInfrastructure(shared);
  const controlPlane = desiredControlPlane({ ...shared, existing: current.controlPlane }, upgrades.controlPlane);
  const workers = (topology.workers?.machineDeployments ?? []).map((one) => {
    const decision = upgrades.workers.get(one.name) ?? { version: topology.version };
    return desiredWorkers(shared, one, decision);
  });
  const pools = (topology.workers?.machinePools ?? []).map((one) => {
    const decision = upgrades.pools.get(one.name) ?? { version: topology.version };
    return desiredPool(shared, one, decision);
  });
  return { variables: verdict.values, infrastructure, controlPlane, workers, pools, upgrades, patcher };
}

function desiredInfrastructure({
  cluster,
  blueprint,
  kinds,
  patcher,
}: Omit<ControlPlaneInput, "existing">): MadeObject {
  const { infrastructure, class: clusterClass } = blueprint;
  const template = clusterClass.spec.infrastructure.naming?.template ?? defaultNaming;
  const name = cluster.spec.infrastructureRef?.name ?? nameFor(cluster, "infrastructure", { template });
  const patched = patcher.patch({
    template: infrastructure.object,
    holder: { type: "infrastructure" },
    reference: { ...clusterReference(cluster), fieldPath: "spec.infrastructureRef" },
  });
  return withoutEndpoint(objectFrom(infrastructure, patched, objectKind(kinds, infrastructure), { cluster, name }));
}

/** An endpoint without host is for the provider to fill. */
function withoutEndpoint(made: MadeObject): MadeObject {
  const { controlPlaneEndpoint, ...spec } = made.object.spec;
  const host = (controlPlaneEndpoint as { host?: unknown } | undefined)?.host;
  return host ? made : { ...made, object: { ...made.object, spec } };
}

/** The versions to ask for now. @throws TopologyProblem */
export function upgradesOf({ cluster, blueprint, current, hold }: Omit<DesiredInput, "kinds">): Upgrades {
  const { topology } = cluster.spec;
  const workers = (topology?.workers?.machineDeployments ?? []).map(({ name, metadata }) => {
    const existing = currentDeployment(current, name);
    const notes = metadata?.annotations ?? {};
    if (!existing) return { topologyName: name, notes };
    const { version } = existing.spec.template.spec;
    const machines = current.machines.filter(
      ({ metadata: own }) => own.labels?.["topology.cluster.x-k8s.io/deployment-name"] === name,
    );
    const isUpgrading = version !== undefined && machines.some(({ spec }) => !isStoredAlike(spec.version, version));
    return { topologyName: name, notes, current: { name: existing.metadata.name, version, isUpgrading } };
  });
  const version = current.controlPlane && controlPlaneSpecVersionOf(current.controlPlane);
  const concurrency = Number(cluster.metadata.annotations?.[annotations.upgradeConcurrency] ?? 1);
  try {
    return planUpgrades({
      desired: topology?.version ?? "",
      known: blueprint.class.spec.kubernetesVersions,
      concurrency: Number.isInteger(concurrency) && concurrency > 0 ? concurrency : 1,
      controlPlane:
        current.controlPlane && version !== undefined
          ? { version, reached: statusVersionOf(current.controlPlane) }
          : undefined,
      workers,
      pools: (topology?.workers?.machinePools ?? []).map((one) => poolVersion(current, one)),
      hold,
    });
  } catch (error) {
    throw new TopologyProblem(error instanceof Error ? error.message : String(error));
  }
}
