import Type from "typebox";
import type { Resource } from "@causeway/kubernetes";
import type { Kind } from "../kind.ts";
import { defineKind } from "../schema/define.ts";
import { anyText, checked, conditions, flag, list, object, optional } from "../schema/fields.ts";
import { group, providerLabels } from "./group.ts";
import { identityReference, machineSpec } from "./parameters.ts";
import { machineStatus } from "./status.ts";

const {
  flavor: _flavor,
  providerID: _id,
  identityRef: _identity,
  sshKeyName: _key,
  ports,
  ...shared
} = machineSpec.properties;

const serverSpec = checked(
  object({
    ...shared,
    flavor: optional(Type.String({ minLength: 1, description: "Name of the flavor." })),
    flavorID: optional(Type.String({ minLength: 1, description: "UUID of the flavor." })),
    identityRef: identityReference,
    sshKeyName: anyText({ description: "Nova key pair; empty: none." }),
    ports: Type.Array(ports.items, { description: "Ports of the server.", "x-kubernetes-list-type": "atomic" }),
    availabilityZone: optional(anyText()),
    userDataRef: optional(object({ name: optional(anyText({ default: "" })) })),
  }),
  [{ rule: "has(self.flavor) != has(self.flavorID)", message: "exactly one of flavor and flavorID must be set" }],
);
/** A server that belongs to no Machine: flavor, image, ports. */
export type OpenStackServerSpec = Type.Static<typeof serverSpec>;

const { initialization: _once, ...observed } = machineStatus.properties;
const serverStatus = object({
  ...observed,
  ready: optional(flag({ default: false })),
  addresses: optional(list(object({ type: anyText(), address: anyText() }))),
  conditions: conditions(),
});
/** The state and addresses of the server. */
export type OpenStackServerStatus = Type.Static<typeof serverStatus>;

/** One server in OpenStack: a bastion, or one that a user declares. */
export type OpenStackServer = Resource<OpenStackServerSpec, OpenStackServerStatus>;
/** Its kind, for clients and for the CRD: `oss`, v1alpha1. */
export const OpenStackServer: Kind<OpenStackServer> = defineKind({
  group,
  version: "v1alpha1",
  kind: "OpenStackServer",
  description: "One server in OpenStack: a bastion, or one that a user declares.",
  spec: serverSpec,
  status: serverStatus,
  shortNames: ["oss"],
  labels: providerLabels,
  columns: [
    { name: "InstanceState", type: "string", jsonPath: ".status.instanceState", description: "State of the server" },
    { name: "Ready", type: "string", jsonPath: ".status.ready", description: "Whether the server is ACTIVE" },
    { name: "InstanceID", type: "string", jsonPath: ".status.instanceID", description: "UUID of the server" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});
