import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { contractLabels, labels } from "../names.ts";
import { defineKind } from "../schema/define.ts";
import { ipAddressV1Beta1 } from "./v1beta1/ip-address.ts";
import { int32, object, optional, text } from "../schema/fields.ts";
import { contractReference } from "../cluster/shapes.ts";

const ipAddressSpec = object({
  address: text(1, 39),
  claimRef: object({ name: text(1, 253) }),
  gateway: optional(text(1, 39)),
  poolRef: contractReference(),
  prefix: int32({ minimum: 0, maximum: 128 }),
});

/** An address of a pool, and the claim that has it. */
export type IPAddressSpec = Static<typeof ipAddressSpec>;

/** An address of a pool, for one claim. */
export type IPAddress = Resource<IPAddressSpec, Record<string, never>>;

/** Its kind, for clients and for the CRD: stored as v1beta2, also served as v1beta1. */
export const IPAddress: Kind<IPAddress> = defineKind({
  group: "ipam.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "IPAddress",
  plural: "ipaddresses",
  description: "An address of a pool, for one claim.",

  labels: { ...contractLabels, [labels.provider]: "cluster-api" },
  columns: [
    column("Address", ".spec.address"),
    column("Pool Name", ".spec.poolRef.name"),
    column("Pool Kind", ".spec.poolRef.kind"),
    age,
  ],

  spec: ipAddressSpec,

  versions: [ipAddressV1Beta1],
});
