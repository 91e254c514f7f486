import Type from "typebox";
import type { Resource } from "@causeway/kubernetes";
import type { Kind } from "../kind.ts";
import { defineKind } from "../schema/define.ts";
import { anyText, conditions, int32, list, object, oneOf, optional, setOf } from "../schema/fields.ts";
import { group, providerLabels } from "./group.ts";
import { identityReference, neutronParameter } from "./parameters.ts";

const nonEmpty = () => Type.String({ minLength: 1 });
const addresses = (description: string) => optional(list(anyText(), { description }));

const poolSpec = object({
  identityRef: identityReference,
  floatingIPNetwork: optional(neutronParameter),
  preAllocatedFloatingIPs: addresses("Floating IPs of the project that are handed out first, and never deleted."),
  maxIPs: optional(
    int32({ description: "The most addresses that are in use at a time; unset: as many as are claimed." }),
  ),
  reclaimPolicy: oneOf(["Retain", "Delete"], {
    description: "Whether a released floating IP is kept for the next claim, or deleted.",
  }),
});
/** The network and number of floating IPs that claims are given. */
export type OpenStackFloatingIPPoolSpec = Type.Static<typeof poolSpec>;

const poolStatus = object({
  claimedIPs: addresses("Addresses that claims have."),
  availableIPs: addresses("Addresses that no claim has."),
  failedIPs: addresses("Pre-allocated addresses that the project does not have."),
  floatingIPNetwork: optional(object({ id: nonEmpty(), name: nonEmpty(), tags: optional(setOf(anyText())) })),
  conditions: conditions(),
});
/** Which floating IPs are claimed, and which are free. */
export type OpenStackFloatingIPPoolStatus = Type.Static<typeof poolStatus>;

/** Floating IPs of an external network that machines claim. */
export type OpenStackFloatingIPPool = Resource<OpenStackFloatingIPPoolSpec, OpenStackFloatingIPPoolStatus>;
/** Its kind, for clients and for the CRD: v1alpha1. */
export const OpenStackFloatingIPPool: Kind<OpenStackFloatingIPPool> = defineKind({
  group,
  version: "v1alpha1",
  kind: "OpenStackFloatingIPPool",
  plural: "openstackfloatingippools",
  description: "Floating IPs of an external network that machines claim.",
  spec: poolSpec,
  status: poolStatus,
  labels: providerLabels,
  columns: [
    { name: "Network", type: "string", jsonPath: ".status.floatingIPNetwork.name", description: "External network" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});
