import type { OpenStackCluster, OpenStackMachine, OpenStackServer } from "@causeway/api";
import { bastionHashAnnotation } from "../openstackcluster/bastion-spec.ts";
import type { ClusterStep } from "../openstackcluster/steps.ts";
import type { MachineStep } from "../openstackmachine/steps.ts";
import {
  cloudIdentityAnnotation,
  clusterFinalizer,
  CONTENDED,
  machineFinalizer,
  ownerAnnotation,
  ownNetworkAnnotation,
  rulesAnnotation,
} from "../resources/naming.ts";

/** The OpenStackCluster after a step. */
export function clusterAfter(object: OpenStackCluster, step: ClusterStep): OpenStackCluster {
  const { metadata } = object;
  const { finalizers = [] } = metadata;
  switch (step.type) {
    case "add-finalizer": {
      const owner = step.owner === undefined ? {} : { [ownerAnnotation]: step.owner };
      const annotations = { ...metadata.annotations, [cloudIdentityAnnotation]: step.identity, ...owner };
      return { ...object, metadata: { ...metadata, annotations, finalizers: withOne(finalizers, clusterFinalizer) } };
    }
    case "remove-finalizer":
      return { ...object, metadata: { ...metadata, finalizers: finalizers.filter((f) => f !== clusterFinalizer) } };
    case "check-names": {
      const annotations = { ...metadata.annotations, [ownNetworkAnnotation]: step.id };
      return { ...object, metadata: { ...metadata, annotations } };
    }
    case "record-contention": {
      const annotations = { ...metadata.annotations, [ownNetworkAnnotation]: CONTENDED };
      return { ...object, metadata: { ...metadata, annotations } };
    }
    case "record-rules": {
      const annotations = { ...metadata.annotations, [rulesAnnotation]: step.hashes };
      return { ...object, metadata: { ...metadata, annotations } };
    }
    case "record-endpoint": {
      const controlPlaneEndpoint = { host: step.host, port: step.port };
      return { ...object, spec: { ...object.spec, controlPlaneEndpoint } };
    }
    default:
      return object;
  }
}

/** The cluster's OpenStackServer of a bastion after a step. */
export function bastionAfter(
  bastion: OpenStackServer | undefined,
  step: ClusterStep,
  namespace: string,
): OpenStackServer | undefined {
  if (step.type === "delete-bastion") return undefined;
  if (step.type === "create-bastion") {
    const { name, spec, hash } = step;
    return {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
      kind: "OpenStackServer",
      metadata: { name, namespace, annotations: { [bastionHashAnnotation]: hash } },
      spec,
    };
  }
  if (step.type !== "record-bastion" || !bastion) return bastion;
  const annotations = { ...bastion.metadata.annotations, [bastionHashAnnotation]: step.hash };
  return { ...bastion, metadata: { ...bastion.metadata, annotations } };
}

/** The OpenStackMachine after a step. */
export function machineAfter(object: OpenStackMachine, step: MachineStep): OpenStackMachine {
  const { metadata } = object;
  const { finalizers = [] } = metadata;
  switch (step.type) {
    case "add-finalizer":
      return { ...object, metadata: { ...metadata, finalizers: withOne(finalizers, machineFinalizer) } };
    case "remove-finalizer":
      return { ...object, metadata: { ...metadata, finalizers: finalizers.filter((f) => f !== machineFinalizer) } };
    case "record-provider-id":
      return { ...object, spec: { ...object.spec, providerID: step.providerId } };
    default:
      return object;
  }
}

const withOne = (list: readonly string[], one: string): string[] => [...list.filter((other) => other !== one), one];
