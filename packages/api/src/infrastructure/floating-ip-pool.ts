import Type from "typebox";
import type { Resource } from "@causeway/kubernetes";
import type { Kind } from "../kind.ts";
import { defineKind } from "../schema/define.ts";
import { anyText, conditions, list, object, oneOf, optional, setOf } from "../schema/fields.ts";
import { group, providerLabels } from "./group.ts";
import { identityReference, neutronParameter } from "./parameters.ts";

const nonEmpty = () => Type.String({ minLength: 1 });
const addresses = (description: string) => optional(list(anyText(), { description }));

const poolSpec = object({
  identityRef: identityReference,
  floatingIPNetwork: optional(neutronParameter),
  preAllocatedFloatingIPs: addresses("Floating IPs of the project that the pool hands out first, and never deletes."),
  maxIPs: optional(Type.Integer({ minimum: 0, description: "Most floating IPs that the pool creates; 0: no limit." })),
  reclaimPolicy: oneOf(["Retain", "Delete"]),
});
export type OpenStackFloatingIPPoolSpec = Type.Static<typeof poolSpec>;

const poolStatus = object({
  claimedIPs: addresses("Floating IPs that claims have."),
  availableIPs: addresses("Floating IPs that no claim has."),
  failedIPs: addresses("Floating IPs of the spec that the project does not have."),
  floatingIPNetwork: optional(object({ id: nonEmpty(), name: nonEmpty(), tags: optional(setOf(anyText())) })),
  conditions: conditions(),
});
export type OpenStackFloatingIPPoolStatus = Type.Static<typeof poolStatus>;

/** Floating IPs that IPAddressClaims are served from. */
export type OpenStackFloatingIPPool = Resource<OpenStackFloatingIPPoolSpec, OpenStackFloatingIPPoolStatus>;
export const OpenStackFloatingIPPool: Kind<OpenStackFloatingIPPool> = defineKind({
  group,
  version: "v1alpha1",
  kind: "OpenStackFloatingIPPool",
  description: "Floating IPs that IPAddressClaims are served from.",
  spec: poolSpec,
  status: poolStatus,
  labels: providerLabels,
});
