import Type from "typebox";
import type { KubeObject } from "@causeway/kubernetes";
import type { Kind } from "../kind.ts";
import { defineKind } from "../schema/define.ts";
import { labelSelector, object, optional } from "../schema/fields.ts";
import { group, providerLabels } from "./group.ts";

const nonEmpty = () => Type.String({ minLength: 1 });

const clusterIdentitySpec = object({
  secretRef: object(
    { name: nonEmpty(), namespace: nonEmpty() },
    { description: "The Secret with the keys clouds.yaml and, optionally, cacert." },
  ),
  namespaceSelector: optional(labelSelector),
});

/** Which Secret has the credentials, and from which namespaces they may be used. */
export type OpenStackClusterIdentitySpec = Type.Static<typeof clusterIdentitySpec>;

/** Credentials that the objects of several namespaces share. */
export type OpenStackClusterIdentity = KubeObject & { spec: OpenStackClusterIdentitySpec };
/** Its kind, for clients and for the CRD: `osci`, v1alpha1, not in a namespace. */
export const OpenStackClusterIdentity: Kind<OpenStackClusterIdentity> = {
  ...defineKind({
    group,
    version: "v1alpha1",
    kind: "OpenStackClusterIdentity",
    plural: "openstackclusteridentities",
    description: "Credentials for OpenStack that the objects of several namespaces share.",
    spec: clusterIdentitySpec,
    shortNames: ["osci"],
    labels: providerLabels,
  }),
  namespaced: false,
};
