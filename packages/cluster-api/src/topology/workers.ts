import {
  annotations,
  labels,
  MachineDeployment,
  type Cluster,
  type ClusterClass,
  type MachinePool,
} from "@causeway/api";
import { ownerReference } from "@causeway/kubernetes";
import type { VariableEvaluation } from "../variables/evaluation.ts";
import { workerBuiltins } from "./builtins.ts";
import type { Blueprint, BlueprintTemplate, CurrentState } from "./model.ts";
import { healthCheckOf } from "./health-check.ts";
import { ownedLabels, templateFrom, type MadeObject } from "./made-objects.ts";
import { nameFor, templateName } from "./names.ts";
import type { TemplatePatcher } from "./patcher.ts";
import { TopologyProblem } from "./problem.ts";
import type { WorkersDecision } from "./upgrades.ts";

type DeploymentClass = NonNullable<NonNullable<ClusterClass["spec"]["workers"]>["machineDeployments"]>[number];
/** An entry of `spec.topology.workers.machineDeployments`. */
export type DeploymentTopology = NonNullable<
  NonNullable<NonNullable<Cluster["spec"]["topology"]>["workers"]>["machineDeployments"]
>[number];

/** A MachineDeployment of a topology, with what belongs to it. */
export interface DesiredWorkers {
  readonly topologyName: string;
  readonly deployment: MadeObject;
  readonly bootstrap: MadeObject;
  readonly infrastructure: MadeObject;
  readonly healthCheck: MadeObject | undefined;
  readonly decision: WorkersDecision;
}

/** What all workers of a topology are computed from. */
export interface WorkersInput {
  readonly cluster: Cluster;
  readonly blueprint: Blueprint;
  readonly current: CurrentState;
  readonly patcher: TemplatePatcher;
  readonly variables: VariableEvaluation;
}

/** The one MachineDeployment of a name in the topology that is not being deleted. */
export function currentDeployment(current: CurrentState, topologyName: string): MachineDeployment | undefined {
  const found = current.deployments.filter(
    ({ metadata }) => metadata.labels?.[labels.topologyDeploymentName] === topologyName && !metadata.deletionTimestamp,
  );
  if (found.length < 2) return found[0];
  const names = found.map(({ metadata }) => metadata.name).join(", ");
  throw new TopologyProblem(
    `MachineDeployments ${names} have the same topology name ${JSON.stringify(topologyName)}: delete all but one`,
  );
}

/** Templates that exist and are of the same kind keep their names. @throws TopologyProblem */
export function desiredWorkers(
  input: WorkersInput,
  topology: DeploymentTopology,
  decision: WorkersDecision,
): DesiredWorkers {
  const { cluster, blueprint, current, variables, patcher } = input;
  const templates = blueprint.deployments.get(topology.class);
  const deploymentClass = blueprint.class.spec.workers?.machineDeployments?.find((one) => one.class === topology.class);
  if (!templates || !deploymentClass) {
    throw new TopologyProblem(
      `MachineDeployment class ${JSON.stringify(topology.class)} not found in ClusterClass ${blueprint.class.metadata.name}`,
    );
  }
  const existing = currentDeployment(current, topology.name);
  const prefix = `${cluster.metadata.name}-${topology.name}`;
  const standing = existing?.spec.template.spec;
  const names = {
    bootstrap:
      nameOr(standing?.bootstrap.configRef, templates.bootstrap) ??
      templateName(cluster, prefix, `${topology.name}/bootstrap`),
    infrastructure:
      nameOr(standing?.infrastructureRef, templates.infrastructure) ??
      templateName(cluster, prefix, `${topology.name}/infrastructure`),
  };
  const deployment = deploymentOf(input, {
    topology,
    deploymentClass,
    templates,
    names,
    version: decision.version,
    existing,
  });
  const path = `spec.topology.workers.machineDeployments[${topology.name}].variables.overrides`;
  const own = variables.overrides(topology.variables?.overrides ?? [], path);
  if (own.problems.length > 0) throw new TopologyProblem(own.problems.join("; "));
  const builtin = { machineDeployment: workerBuiltins(deployment, topology) };
  const made = (template: BlueprintTemplate, name: string, fieldPath: string) => {
    const patched = patcher.patch({
      template: template.object,
      holder: { type: "machineDeployment", class: topology.class },
      reference: workerReference(deployment, fieldPath),
      overrides: own.values,
      builtin,
    });
    return templateFrom(template, patched, {
      cluster,
      name,
      labels: { [labels.topologyDeploymentName]: topology.name },
    });
  };
  const target = { kind: MachineDeployment, object: deployment } as MadeObject;
  return {
    topologyName: topology.name,
    deployment: target,
    bootstrap: made(templates.bootstrap, names.bootstrap, "spec.template.spec.bootstrap.configRef"),
    infrastructure: made(templates.infrastructure, names.infrastructure, "spec.template.spec.infrastructureRef"),
    healthCheck: healthCheckOf(cluster, deployment, {
      ofClass: deploymentClass.healthCheck,
      ofTopology: topology.healthCheck,
      selector: { ...ownedLabels(cluster), [labels.topologyDeploymentName]: topology.name },
    }),
    decision,
  };
}

/** A MachineDeployment or MachinePool as the object that refers to a template. */
export function workerReference(
  { apiVersion, kind, metadata: { name } }: MachineDeployment | MachinePool,
  fieldPath: string,
) {
  return { apiVersion, kind, name, fieldPath };
}

/** The name of what is in use, if it is of the kind that the class wants. */
export function nameOr(
  reference: { readonly kind: string; readonly apiGroup: string; readonly name: string } | undefined,
  { kind }: Pick<BlueprintTemplate, "kind">,
): string | undefined {
  return reference && reference.kind === kind.kind && reference.apiGroup === kind.group ? reference.name : undefined;
}

interface DeploymentInput {
  readonly topology: DeploymentTopology;
  readonly deploymentClass: DeploymentClass;
  readonly templates: { readonly bootstrap: BlueprintTemplate; readonly infrastructure: BlueprintTemplate };
  readonly names: { readonly bootstrap: string; readonly infrastructure: string };
  readonly version: string;
  readonly existing: MachineDeployment | undefined;
}

const notPropagated: ReadonlySet<string> = new Set([annotations.deferUpgrade, annotations.holdUpgradeSequence]);

function nameOf(cluster: Cluster, { naming }: DeploymentClass, { name }: DeploymentTopology): string {
  const template = naming?.template ?? "{{ .cluster.name }}-{{ .machineDeployment.topologyName }}-{{ .random }}";
  return nameFor(cluster, `deployment/${name}`, { template, data: { machineDeployment: { topologyName: name } } });
}

type Marks = Readonly<Record<string, string>>;

interface Marked {
  readonly metadata?: { readonly labels?: Marks; readonly annotations?: Marks };
}

/** Labels and annotations of workers and of their machines: the topology's win over its class's. */
export function marksOf(
  { metadata: ofClass }: Marked,
  { metadata: ofTopology }: Marked,
  own: Marks,
): { readonly labels: Record<string, string>; readonly annotations?: Record<string, string> } {
  const notes = Object.entries({ ...ofClass?.annotations, ...ofTopology?.annotations }).filter(
    ([key]) => !notPropagated.has(key),
  );
  return {
    labels: { ...ofClass?.labels, ...ofTopology?.labels, ...own },
    ...(notes.length > 0 ? { annotations: Object.fromEntries(notes) } : {}),
  };
}

function deploymentOf({ cluster }: WorkersInput, input: DeploymentInput): MachineDeployment {
  const { topology, deploymentClass, templates, names, version, existing } = input;
  const { name: clusterName, namespace } = cluster.metadata;
  const selector = { ...ownedLabels(cluster), [labels.topologyDeploymentName]: topology.name };
  const marks = marksOf(deploymentClass, topology, selector);
  const { order, ...timeouts } = { ...deploymentClass.deletion, ...topology.deletion };
  const maxInFlight =
    topology.healthCheck?.remediation?.maxInFlight ?? deploymentClass.healthCheck?.remediation?.maxInFlight;
  const rollout = topology.rollout ?? deploymentClass.rollout;
  return {
    apiVersion: `${MachineDeployment.group}/${MachineDeployment.version}`,
    kind: MachineDeployment.kind,
    metadata: {
      name: existing?.metadata.name ?? nameOf(cluster, deploymentClass, topology),
      ...(namespace === undefined ? {} : { namespace }),
      ...marks,
      ownerReferences: [ownerReference(cluster)],
    },
    spec: {
      clusterName,
      ...(topology.replicas === undefined ? {} : { replicas: topology.replicas }),
      selector: { matchLabels: selector },
      ...(rollout ? { rollout } : {}),
      ...(order ? { deletion: { order } } : {}),
      ...(maxInFlight === undefined ? {} : { remediation: { maxInFlight } }),
      template: {
        metadata: marks,
        spec: {
          clusterName,
          version,
          bootstrap: {
            configRef: {
              apiGroup: templates.bootstrap.kind.group,
              kind: templates.bootstrap.kind.kind,
              name: names.bootstrap,
            },
          },
          infrastructureRef: {
            apiGroup: templates.infrastructure.kind.group,
            kind: templates.infrastructure.kind.kind,
            name: names.infrastructure,
          },
          ...settings(deploymentClass, topology),
          ...(Object.keys(timeouts).length > 0 ? { deletion: timeouts } : {}),
        },
      },
    },
  } as MachineDeployment;
}

/** The topology's settings win over its class's. */
function settings(deploymentClass: DeploymentClass, topology: DeploymentTopology): object {
  const names = ["failureDomain", "minReadySeconds", "readinessGates", "taints"] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = topology[name] ?? deploymentClass[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
