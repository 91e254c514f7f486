import Type, { type Static } from "typebox";
import {
  anyText,
  conditions,
  flag,
  int32,
  list,
  listByKey,
  mapOf,
  object,
  oneOf,
  optional,
  setOf,
  text,
} from "../schema/fields.ts";

const nonEmpty = () => Type.String({ minLength: 1 });
const tags = () => optional(setOf(anyText()));

const initialization = optional(
  object({ provisioned: optional(flag({ description: "True once; never withdrawn." })) }),
);

const networkStatus = object({
  id: nonEmpty(),
  name: nonEmpty(),
  tags: tags(),
  subnets: optional(list(object({ id: nonEmpty(), name: nonEmpty(), cidr: nonEmpty(), tags: tags() }))),
});

const groupStatus = object({ id: nonEmpty(), name: nonEmpty() });
const ports = optional(list(object({ id: nonEmpty() })));

const resolvedPort = object({
  name: nonEmpty(),
  networkID: nonEmpty(),
  description: optional(anyText()),
  adminStateUp: optional(flag()),
  macAddress: optional(anyText()),
  fixedIPs: optional(list(object({ subnet: optional(anyText()), ipAddress: optional(anyText()) }))),
  securityGroups: optional(list(anyText())),
  allowedAddressPairs: optional(list(object({ ipAddress: nonEmpty(), macAddress: optional(anyText()) }))),
  enablePortSecurity: optional(flag()),
  trunk: optional(flag()),
  parent: optional(anyText({ description: "Name of the trunk port that this one is a subport of." })),
  segmentationID: optional(int32()),
  segmentationType: optional(oneOf(["vlan", "inherit"])),
  hostID: optional(anyText()),
  vnicType: optional(anyText()),
  profile: optional(object({ ovsHWOffload: optional(flag()), trustedVF: optional(flag()) })),
  propagateUplinkStatus: optional(flag()),
  valueSpecs: optional(listByKey(object({ name: nonEmpty(), key: nonEmpty(), value: nonEmpty() }), ["name"])),
  tags: tags(),
});
/** The ids that names and filters of a port's spec were resolved to. */
export type ResolvedPort = Static<typeof resolvedPort>;

/** What names and filters of a machine were found to mean, when the server was made. */
export const resolved = object({
  flavorID: optional(anyText()),
  imageID: optional(anyText()),
  serverGroupID: optional(anyText()),
  ports: optional(list(resolvedPort)),
  tags: optional(setOf(anyText(), { description: "Tags that the server was given." })),
  metadataKeys: optional(setOf(anyText(), { description: "Keys of the metadata that the server was given." })),
});
/** The ids that names and filters of a machine's spec were resolved to. */
export type ResolvedMachine = Static<typeof resolved>;

/** `status` of an OpenStackCluster. */
export const clusterStatus = object({
  initialization,
  network: optional(networkStatus),
  externalNetwork: optional(object({ id: nonEmpty(), name: nonEmpty(), tags: tags() })),
  router: optional(object({ id: nonEmpty(), name: nonEmpty(), ips: optional(setOf(anyText())), tags: tags() })),
  apiServerManagedLoadBalancer: optional(
    object({
      id: nonEmpty(),
      name: nonEmpty(),
      ip: nonEmpty(),
      internalIP: nonEmpty(),
      allowedCIDRs: optional(setOf(anyText())),
      tags: tags(),
      loadBalancerNetwork: optional(networkStatus),
    }),
  ),
  controlPlaneSecurityGroup: optional(groupStatus),
  workerSecurityGroup: optional(groupStatus),
  bastionSecurityGroup: optional(groupStatus),
  bastion: optional(
    object({
      id: optional(anyText()),
      name: optional(anyText()),
      ip: optional(anyText()),
      floatingIP: optional(anyText()),
      state: optional(anyText()),
      sshKeyName: optional(anyText()),
      resolved: optional(resolved),
      resources: optional(object({ ports })),
    }),
  ),
  failureDomains: optional(
    listByKey(
      object({
        name: text(1, 256),
        controlPlane: optional(flag()),
        attributes: optional(mapOf(Type.String())),
      }),
      ["name"],
    ),
  ),
  conditions: conditions(),
});
/** What of the cluster's infrastructure exists, with ids. */
export type OpenStackClusterStatus = Static<typeof clusterStatus>;

/** `status` of an OpenStackMachine. */
export const machineStatus = object({
  initialization,
  addresses: optional(list(object({ type: anyText(), address: anyText() }))),
  instanceID: optional(anyText()),
  instanceState: optional(anyText()),
  resolved: optional(resolved),
  resources: optional(object({ ports })),
  conditions: conditions(),
});
/** The state and addresses of the server. */
export type OpenStackMachineStatus = Static<typeof machineStatus>;
