import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { contractLabels, labels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import { kubeadmControlPlaneTemplateV1Beta1 } from "./v1beta1/kubeadm-control-plane-template.ts";
import { instant, int32, intOrString, object, oneOf, optional, templateMetadata, text } from "../schema/fields.ts";
import { kubeadmFields } from "../bootstrap/kubeadm-config.ts";
import { machineTaints } from "../cluster/shapes.ts";

const kubeadmControlPlaneTemplateSpec = object({
  template: object({
    metadata: optional(templateMetadata),
    spec: optional(
      object({
        kubeadmConfigSpec: optional(object(kubeadmFields)),
        machineNaming: optional(object({ template: optional(text(1, 256)) })),
        machineTemplate: optional(
          object({
            metadata: optional(templateMetadata),
            spec: optional(
              object({
                deletion: optional(
                  object({
                    nodeDeletionTimeoutSeconds: optional(int32({ minimum: 0 })),
                    nodeDrainTimeoutSeconds: optional(int32({ minimum: 0 })),
                    nodeVolumeDetachTimeoutSeconds: optional(int32({ minimum: 0 })),
                  }),
                ),
                taints: optional(machineTaints),
              }),
            ),
          }),
        ),
        remediation: optional(
          object({
            maxRetry: optional(int32()),
            minHealthyPeriodSeconds: optional(int32({ minimum: 0 })),
            retryPeriodSeconds: optional(int32({ minimum: 0 })),
          }),
        ),
        rollout: optional(
          object({
            after: optional(instant()),
            before: optional(object({ certificatesExpiryDays: optional(int32({ minimum: 7 })) })),
            strategy: optional(
              object({
                rollingUpdate: optional(object({ maxSurge: optional(intOrString()) })),
                type: oneOf(["RollingUpdate"]),
              }),
            ),
          }),
        ),
      }),
    ),
  }),
});

/** The KubeadmControlPlane that is made for each cluster of a class. */
export type KubeadmControlPlaneTemplateSpec = Static<typeof kubeadmControlPlaneTemplateSpec>;

/** What the KubeadmControlPlanes of a ClusterClass are made from. */
export type KubeadmControlPlaneTemplate = Resource<KubeadmControlPlaneTemplateSpec, Record<string, never>>;

/** Its kind, for clients and for the CRD: stored as v1beta2, also served as v1beta1. */
export const KubeadmControlPlaneTemplate: Kind<KubeadmControlPlaneTemplate> = defineKind({
  group: "controlplane.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "KubeadmControlPlaneTemplate",
  plural: "kubeadmcontrolplanetemplates",
  description: "What the KubeadmControlPlanes of a ClusterClass are made from.",

  labels: { ...contractLabels, [labels.provider]: "control-plane-kubeadm" },
  columns: [column("ClusterClass", '.metadata.ownerReferences[?(@.kind=="ClusterClass")].name'), age],

  spec: kubeadmControlPlaneTemplateSpec,

  versions: [kubeadmControlPlaneTemplateV1Beta1],
});
