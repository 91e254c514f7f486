import { convertObject, type ClusterClass, type Kind } from "@causeway/api";
import { messageOf } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { ProviderObject } from "../contract/provider-object.ts";
import type { Blueprint, BlueprintTemplate, WorkerTemplates } from "./model.ts";
import { TopologyProblem } from "./problem.ts";

/** A reference of a ClusterClass, with the version that its patches are written for. */
export interface TemplateReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** Finds a template by its reference, at the version that is stored. */
export type FindTemplate = (reference: TemplateReference) => {
  readonly kind: Kind<KubeObject> | undefined;
  readonly object: ProviderObject | undefined;
};

/** Every template that a ClusterClass refers to, and where. */
export function referencesOf({
  spec,
}: Pick<ClusterClass, "spec">): readonly { readonly path: string; readonly reference: TemplateReference }[] {
  const { infrastructure, controlPlane, workers } = spec;
  const of = (path: string, reference: TemplateReference | undefined) => (reference ? [{ path, reference }] : []);
  const both = (
    path: string,
    one: { bootstrap: { templateRef: TemplateReference }; infrastructure: { templateRef: TemplateReference } },
  ) => [
    ...of(`${path}.bootstrap.templateRef`, one.bootstrap.templateRef),
    ...of(`${path}.infrastructure.templateRef`, one.infrastructure.templateRef),
  ];
  return [
    ...of("spec.infrastructure.templateRef", infrastructure.templateRef),
    ...of("spec.controlPlane.templateRef", controlPlane.templateRef),
    ...of("spec.controlPlane.machineInfrastructure.templateRef", controlPlane.machineInfrastructure?.templateRef),
    ...(workers?.machineDeployments ?? []).flatMap((one) => both(`spec.workers.machineDeployments[${one.class}]`, one)),
    ...(workers?.machinePools ?? []).flatMap((one) => both(`spec.workers.machinePools[${one.class}]`, one)),
  ];
}

/** @throws TopologyProblem when a template is missing, or not served at the version of its reference */
export function blueprintOf(clusterClass: ClusterClass, find: FindTemplate): Blueprint {
  const { infrastructure, controlPlane, workers } = clusterClass.spec;
  const template = (reference: TemplateReference): BlueprintTemplate => {
    const { kind, object } = find(reference);
    const named = `${reference.kind} ${clusterClass.metadata.namespace ?? ""}/${reference.name} of ClusterClass ${clusterClass.metadata.name}`;
    if (!kind)
      throw new TopologyProblem(
        `${named}: no provider serves ${reference.kind} of ${reference.apiVersion}: correct the reference, or start the provider`,
      );
    if (!object) throw new TopologyProblem(`${named} does not exist`);
    try {
      return { kind, object: convertObject([kind], structuredClone(object), reference.apiVersion) };
    } catch (error) {
      throw new TopologyProblem(`${named}: ${messageOf(error)}`);
    }
  };
  const templatesOf = (one: {
    readonly bootstrap: { readonly templateRef: TemplateReference };
    readonly infrastructure: { readonly templateRef: TemplateReference };
  }): WorkerTemplates => ({
    bootstrap: template(one.bootstrap.templateRef),
    infrastructure: template(one.infrastructure.templateRef),
  });
  const machine = controlPlane.machineInfrastructure?.templateRef;
  return {
    class: clusterClass,
    infrastructure: template(infrastructure.templateRef),
    controlPlane: template(controlPlane.templateRef),
    controlPlaneMachine: machine && template(machine),
    deployments: new Map((workers?.machineDeployments ?? []).map((one) => [one.class, templatesOf(one)])),
    pools: new Map((workers?.machinePools ?? []).map((one) => [one.class, templatesOf(one)])),
  };
}
