import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { contractLabels, labels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import { clusterResourceSetBindingV1Beta1 } from "./v1beta1/cluster-resource-set-binding.ts";
import { flag, instant, list, object, oneOf, optional, text } from "../schema/fields.ts";

const clusterResourceSetBindingSpec = object({
  bindings: optional(
    list(
      object({
        clusterResourceSetName: text(1, 253),
        resources: optional(
          list(
            object({
              applied: flag(),
              hash: optional(text(1, 256)),
              kind: oneOf(["Secret", "ConfigMap"]),
              lastAppliedTime: optional(instant()),
              name: text(1, 253),
            }),
            { max: 100 },
          ),
        ),
      }),
      { max: 100 },
    ),
  ),
  clusterName: text(1, 63),
});

/** Which resources of which sets a cluster has been given. */
export type ClusterResourceSetBindingSpec = Static<typeof clusterResourceSetBindingSpec>;

/** What ClusterResourceSets applied to one Cluster. */
export type ClusterResourceSetBinding = Resource<ClusterResourceSetBindingSpec, Record<string, never>>;

/** Its kind, for clients and for the CRD: stored as v1beta2, also served as v1beta1. */
export const ClusterResourceSetBinding: Kind<ClusterResourceSetBinding> = defineKind({
  group: "addons.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "ClusterResourceSetBinding",
  plural: "clusterresourcesetbindings",
  description: "What ClusterResourceSets applied to one Cluster.",

  labels: { ...contractLabels, [labels.provider]: "cluster-api" },
  columns: [column("Cluster", ".spec.clusterName"), age],

  spec: clusterResourceSetBindingSpec,

  versions: [clusterResourceSetBindingV1Beta1],
});
