import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { contractLabels, labels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import { ipAddressClaimV1Beta1 } from "./v1beta1/ip-address-claim.ts";
import { conditions, object, optional, text } from "../schema/fields.ts";
import { contractReference } from "../cluster/shapes.ts";
import { oldConditions } from "../versions/shapes.ts";

const ipAddressClaimSpec = object({ clusterName: optional(text(1, 63)), poolRef: contractReference() });

const ipAddressClaimStatus = object({
  addressRef: optional(object({ name: text(1, 253) })),
  conditions: conditions(),
  deprecated: optional(object({ v1beta1: optional(object({ conditions: oldConditions() })) })),
});

/** The pool that an address is requested of. */
export type IPAddressClaimSpec = Static<typeof ipAddressClaimSpec>;
/** The address that the claim was given. */
export type IPAddressClaimStatus = Static<typeof ipAddressClaimStatus>;
/** A request for an address of a pool. */
export type IPAddressClaim = Resource<IPAddressClaimSpec, IPAddressClaimStatus>;

/** Its kind, for clients and for the CRD: stored as v1beta2, also served as v1beta1. */
export const IPAddressClaim: Kind<IPAddressClaim> = defineKind({
  group: "ipam.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "IPAddressClaim",
  plural: "ipaddressclaims",
  description: "A request for an address of a pool.",

  labels: { ...contractLabels, [labels.provider]: "cluster-api" },
  columns: [column("Pool Name", ".spec.poolRef.name"), column("Pool Kind", ".spec.poolRef.kind"), age],

  spec: ipAddressClaimSpec,
  status: ipAddressClaimStatus,
  versions: [ipAddressClaimV1Beta1],
});
