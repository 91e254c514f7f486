import { define, SCALE, STATUS, type Definition } from "./define.ts";
import type { Resource } from "./resource.ts";

/** Kinds that are kept for the programs that act on them: their fields are read and checked for type, and nothing is made of them here. */
export function storedKinds(): Resource[] {
  return [...coreKinds(), ...networkKinds(), ...storageKinds(), ...otherKinds()].map(define);
}

function coreKinds(): Definition[] {
  return [
    { kind: "LimitRange", plural: "limitranges", shortNames: ["limits"] },
    { kind: "PodTemplate", plural: "podtemplates", generation: true },
    {
      kind: "ReplicationController",
      plural: "replicationcontrollers",
      shortNames: ["rc"],
      categories: ["all"],
      subresources: [STATUS, SCALE],
      selectable: ["status.replicas"],
      generation: true,
    },
    { kind: "ResourceQuota", plural: "resourcequotas", shortNames: ["quota"], subresources: [STATUS] },
  ];
}

function networkKinds(): Definition[] {
  const group = "networking.k8s.io";
  return [
    { group, kind: "Ingress", plural: "ingresses", shortNames: ["ing"], subresources: [STATUS], generation: true },
    { group, kind: "IngressClass", plural: "ingressclasses", clusterScoped: true, generation: true },
    { group, kind: "NetworkPolicy", plural: "networkpolicies", shortNames: ["netpol"], generation: true },
  ];
}

function storageKinds(): Definition[] {
  const group = "storage.k8s.io";
  return [
    { group, kind: "CSIDriver", plural: "csidrivers", clusterScoped: true },
    { group, kind: "CSINode", plural: "csinodes", clusterScoped: true },
    { group, kind: "VolumeAttachment", plural: "volumeattachments", clusterScoped: true, subresources: [STATUS] },
  ];
}

function otherKinds(): Definition[] {
  return [
    {
      group: "policy",
      kind: "PodDisruptionBudget",
      plural: "poddisruptionbudgets",
      shortNames: ["pdb"],
      subresources: [STATUS],
      generation: true,
    },
    {
      group: "batch",
      kind: "CronJob",
      plural: "cronjobs",
      shortNames: ["cj"],
      categories: ["all"],
      subresources: [STATUS],
      generation: true,
    },
    { group: "apps", kind: "ControllerRevision", plural: "controllerrevisions" },
  ];
}
