import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { labels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import { object, optional, templateMetadata } from "../schema/fields.ts";
import { hostedControlPlaneTemplateFields } from "./hosted-control-plane.ts";

const hostedControlPlaneTemplateSpec = object({
  template: object({
    metadata: optional(templateMetadata),
    spec: optional(object(hostedControlPlaneTemplateFields)),
  }),
});

/** The spec, and the metadata, that a HostedControlPlane is given. */
export type HostedControlPlaneTemplateSpec = Static<typeof hostedControlPlaneTemplateSpec>;
/** What the HostedControlPlanes of a ClusterClass are made from. */
export type HostedControlPlaneTemplate = Resource<HostedControlPlaneTemplateSpec, Record<string, never>>;

/** Its kind, for clients and for the CRD: v1alpha1. */
export const HostedControlPlaneTemplate: Kind<HostedControlPlaneTemplate> = defineKind({
  group: "controlplane.cluster.x-k8s.io",
  version: "v1alpha1",
  kind: "HostedControlPlaneTemplate",
  description: "What the HostedControlPlanes of a ClusterClass are made from.",
  labels: { "cluster.x-k8s.io/v1beta2": "v1alpha1", [labels.provider]: "control-plane-hosted" },
  columns: [column("ClusterClass", '.metadata.ownerReferences[?(@.kind=="ClusterClass")].name'), age],
  spec: hostedControlPlaneTemplateSpec,
});
