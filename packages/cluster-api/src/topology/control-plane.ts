import { Cluster, labels } from "@causeway/api";
import { isRecord } from "@causeway/foundation";
import { cloneKind } from "../contract/clone-kind.ts";
import type { KindTable } from "../contract/kind-table.ts";
import { machineTemplateReferenceOf, type ProviderObject } from "../contract/provider-object.ts";
import type { VariableEvaluation } from "../variables/evaluation.ts";
import { controlPlaneBuiltins } from "./builtins.ts";
import type { Blueprint, BlueprintTemplate } from "./model.ts";
import { healthCheckOf } from "./health-check.ts";
import { objectFrom, ownedLabels, templateFrom, type MadeObject } from "./made-objects.ts";
import { nameFor, templateName } from "./names.ts";
import type { HolderReference, TemplatePatcher } from "./patcher.ts";
import { TopologyProblem } from "./problem.ts";

/** The control plane of a topology with what belongs to it. */
export interface DesiredControlPlane {
  readonly object: MadeObject;
  /** The template of its machines, where there are any. */
  readonly machineTemplate: MadeObject | undefined;
  readonly healthCheck: MadeObject | undefined;
}

/** What the control plane of a topology is computed from; `existing` keeps its name. */
export interface ControlPlaneInput {
  readonly cluster: Cluster;
  readonly blueprint: Blueprint;
  readonly kinds: KindTable;
  readonly existing: ProviderObject | undefined;
  readonly patcher: TemplatePatcher;
  readonly variables: VariableEvaluation;
}

/** The name of a control plane whose class says nothing else. */
export const defaultNaming = "{{ .cluster.name }}-{{ .random }}";

/** A Cluster as the object that refers to a template. */
export function clusterReference({
  metadata: { name },
}: Cluster): Pick<HolderReference, "apiVersion" | "kind" | "name"> {
  return { apiVersion: `${Cluster.group}/${Cluster.version}`, kind: Cluster.kind, name };
}

/** At `version`, which a step of an upgrade decides. @throws TopologyProblem */
export function desiredControlPlane(input: ControlPlaneInput, version: string): DesiredControlPlane {
  const { cluster, blueprint, patcher } = input;
  const { controlPlane: ofClass } = blueprint.class.spec;
  const ofTopology = cluster.spec.topology?.controlPlane;
  const marks = marksOf(input);
  const name = nameOf(input);
  const machineName = blueprint.controlPlaneMachine && machineTemplateName(input, blueprint.controlPlaneMachine);
  const own = input.variables.overrides(
    ofTopology?.variables?.overrides ?? [],
    "spec.topology.controlPlane.variables.overrides",
  );
  if (own.problems.length > 0) throw new TopologyProblem(own.problems.join("; "));
  const builtin = {
    controlPlane: controlPlaneBuiltins({
      name,
      version,
      replicas: ofTopology?.replicas,
      ...marks,
      machineTemplate: machineName,
    }),
  };
  const kind = objectKind(input.kinds, blueprint.controlPlane);
  const patched = (template: BlueprintTemplate, reference: Omit<HolderReference, "namespace">) =>
    patcher.patch({
      template: template.object,
      holder: { type: "controlPlane" },
      reference,
      overrides: own.values,
      builtin,
    });
  const patchedControlPlane = patched(blueprint.controlPlane, {
    ...clusterReference(cluster),
    fieldPath: "spec.controlPlaneRef",
  });
  const machineTemplate =
    blueprint.controlPlaneMachine && machineName !== undefined
      ? templateFrom(
          blueprint.controlPlaneMachine,
          patched(blueprint.controlPlaneMachine, {
            apiVersion: `${kind.group}/${kind.version}`,
            kind: kind.kind,
            name,
            fieldPath: "spec.machineTemplate.spec.infrastructureRef",
          }),
          { cluster, name: machineName },
        )
      : undefined;
  const made = objectFrom(blueprint.controlPlane, patchedControlPlane, kind, { cluster, name, ...marks });
  const object = withTopology(made, { input, version, marks, machineTemplate });
  return {
    object,
    machineTemplate,
    healthCheck:
      machineTemplate &&
      healthCheckOf(cluster, object.object, {
        ofClass: ofClass.healthCheck,
        ofTopology: ofTopology?.healthCheck,
        selector: { [labels.clusterName]: cluster.metadata.name, [labels.controlPlane]: "" },
      }),
  };
}

function marksOf({ cluster, blueprint }: ControlPlaneInput): Additions["marks"] {
  const ofClass = blueprint.class.spec.controlPlane.metadata;
  const ofTopology = cluster.spec.topology?.controlPlane?.metadata;
  return {
    labels: { ...ofClass?.labels, ...ofTopology?.labels, ...ownedLabels(cluster) },
    annotations: { ...ofClass?.annotations, ...ofTopology?.annotations },
  };
}

function nameOf({ cluster, blueprint }: ControlPlaneInput): string {
  const template = blueprint.class.spec.controlPlane.naming?.template ?? defaultNaming;
  return cluster.spec.controlPlaneRef?.name ?? nameFor(cluster, "control-plane", { template });
}

/** The kind of the objects that a template is for. */
export function objectKind(kinds: KindTable, { kind }: BlueprintTemplate): MadeObject["kind"] {
  const wanted = cloneKind({ apiGroup: kind.group, kind: kind.kind });
  const found = kinds.find(wanted);
  if (!found || wanted.kind === kind.kind)
    throw new TopologyProblem(`${kind.kind} is not a template: a ClusterClass refers to kinds that end in Template`);
  return found;
}

function machineTemplateName({ cluster, existing }: ControlPlaneInput, template: BlueprintTemplate): string {
  const current = existing && machineTemplateReferenceOf(existing);
  const isSame = current?.kind === template.kind.kind && current.apiGroup === template.kind.group;
  return isSame ? current.name : templateName(cluster, cluster.metadata.name, "control-plane-machine");
}

interface Additions {
  readonly input: ControlPlaneInput;
  readonly version: string;
  readonly marks: {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly machineTemplate: MadeObject | undefined;
}

/** The fields of the control plane contract that the topology determines; patches do not change them. */
function withTopology(made: MadeObject, { input, version, marks, machineTemplate }: Additions): MadeObject {
  const { cluster, blueprint } = input;
  const ofClass = blueprint.class.spec.controlPlane;
  const ofTopology = cluster.spec.topology?.controlPlane;
  const template = fieldsAt(made.object.spec["machineTemplate"]);
  const metadata = fieldsAt(template["metadata"]);
  const deletion = { ...ofClass.deletion, ...ofTopology?.deletion };
  const gates = ofTopology?.readinessGates ?? ofClass.readinessGates;
  const taints = ofTopology?.taints ?? ofClass.taints;
  const spec = {
    ...fieldsAt(template["spec"]),
    ...(machineTemplate
      ? {
          infrastructureRef: {
            apiGroup: machineTemplate.kind.group,
            kind: machineTemplate.kind.kind,
            name: machineTemplate.object.metadata.name,
          },
        }
      : {}),
    ...(Object.keys(deletion).length > 0
      ? { deletion: { ...fieldsAt(fieldsAt(template["spec"])["deletion"]), ...deletion } }
      : {}),
    ...(gates ? { readinessGates: gates } : {}),
    ...(taints ? { taints } : {}),
  };
  const machines = {
    ...template,
    ...(machineTemplate
      ? {
          metadata: {
            ...metadata,
            labels: { ...fieldsAt(metadata["labels"]), ...marks.labels },
            annotations: { ...fieldsAt(metadata["annotations"]), ...marks.annotations },
          },
        }
      : {}),
    ...(Object.keys(spec).length > 0 ? { spec } : {}),
  };
  const after = ofTopology?.rollout?.after;
  return {
    kind: made.kind,
    object: {
      ...made.object,
      spec: {
        ...made.object.spec,
        ...(Object.keys(machines).length > 0 ? { machineTemplate: machines } : {}),
        ...(after === undefined ? {} : { rollout: { ...fieldsAt(made.object.spec["rollout"]), after } }),
        ...(ofTopology?.replicas === undefined ? {} : { replicas: ofTopology.replicas }),
        version,
      },
    },
  };
}

function fieldsAt(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
