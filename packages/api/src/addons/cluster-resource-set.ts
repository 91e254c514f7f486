import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, conditionColumn, paused } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { contractLabels, labels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import { clusterResourceSetV1Beta1 } from "./v1beta1/cluster-resource-set.ts";
import { conditions, int64, labelSelector, list, object, oneOf, optional, text } from "../schema/fields.ts";
import { oldConditions } from "../versions/shapes.ts";

const clusterResourceSetSpec = object({
  clusterSelector: labelSelector,
  resources: list(object({ kind: oneOf(["Secret", "ConfigMap"]), name: text(1, 253) }), { min: 1, max: 100 }),
  strategy: optional(oneOf(["ApplyOnce", "Reconcile"])),
});

const clusterResourceSetStatus = object({
  conditions: conditions(),
  deprecated: optional(object({ v1beta1: optional(object({ conditions: oldConditions() })) })),
  observedGeneration: optional(int64({ minimum: 1 })),
});

/** Manifests, and the clusters that they are applied to. */
export type ClusterResourceSetSpec = Static<typeof clusterResourceSetSpec>;
/** Whether they were applied, as conditions. */
export type ClusterResourceSetStatus = Static<typeof clusterResourceSetStatus>;
/** Objects that are applied to every matching Cluster. */
export type ClusterResourceSet = Resource<ClusterResourceSetSpec, ClusterResourceSetStatus>;

/** Its kind, for clients and for the CRD: stored as v1beta2, also served as v1beta1. */
export const ClusterResourceSet: Kind<ClusterResourceSet> = defineKind({
  group: "addons.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "ClusterResourceSet",
  plural: "clusterresourcesets",
  description: "Objects that are applied to every matching Cluster.",

  labels: { ...contractLabels, [labels.provider]: "cluster-api" },
  columns: [conditionColumn("Applied", "ResourcesApplied"), paused, age],

  spec: clusterResourceSetSpec,
  status: clusterResourceSetStatus,
  versions: [clusterResourceSetV1Beta1],
});
