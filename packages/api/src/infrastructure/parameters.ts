import Type, { type Static } from "typebox";
import {
  anyText,
  flag,
  immutable,
  int32,
  list,
  listByKey,
  object,
  oneOf,
  optional,
  setOf,
  text,
} from "../schema/fields.ts";

/** An OpenStack UUID. */
const uuid = () => anyText({ description: "UUID of the resource." });
const nonEmpty = (description?: string) => Type.String({ minLength: 1, ...(description ? { description } : {}) });
const tagList = (description: string) => optional(setOf(Type.String({ minLength: 1 }), { description }));

const neutronFilterFields = {
  name: optional(anyText({ description: "Name, exactly." })),
  description: optional(anyText({ description: "Description, exactly." })),
  projectID: optional(anyText({ description: "Project that owns the resource." })),
  tags: tagList("All of these tags are set."),
  tagsAny: tagList("At least one of these tags is set."),
  notTags: tagList("Not all of these tags are set."),
  notTagsAny: tagList("None of these tags is set."),
};

/** A Neutron network, router or security group, by `id` or by a `filter` that fits exactly one. */
export const neutronParameter = object(
  { id: optional(uuid()), filter: optional(object(neutronFilterFields)) },
  { description: "Exactly one of id and filter." },
);
/** An object of Neutron, by its id or by a filter. */
export type NeutronParameter = Static<typeof neutronParameter>;

/** A subnet, by `id` or by a `filter` that fits exactly one. */
export const subnetParameter = object(
  {
    id: optional(uuid()),
    filter: optional(
      object({
        ...neutronFilterFields,
        cidr: optional(anyText()),
        gatewayIP: optional(anyText()),
        ipVersion: optional(int32()),
        ipv6AddressMode: optional(anyText()),
        ipv6RAMode: optional(anyText()),
      }),
    ),
  },
  { description: "Exactly one of id and filter." },
);
/** A subnet, by its id or by a filter. */
export type SubnetParameter = Static<typeof subnetParameter>;

/** Where the credentials are: a Secret with the keys clouds.yaml and, optionally, cacert. */
export const identityReference = object(
  {
    type: optional(oneOf(["Secret", "ClusterIdentity"], { default: "Secret" })),
    name: nonEmpty("Name of the Secret, in the namespace of this object."),
    cloudName: nonEmpty("Entry of clouds.yaml to use."),
    region: optional(immutable(anyText({ description: "Region to use in place of the one in clouds.yaml." }))),
  },
  { description: "Credentials for OpenStack." },
);
/** The Secret, or the cluster-wide identity, with a clouds.yaml. */
export type IdentityReference = Static<typeof identityReference>;

const availabilityZone = object({
  from: optional(oneOf(["Name", "Machine"], { default: "Name" })),
  name: optional(nonEmpty("Cinder availability zone, when from is Name.")),
});

const volumeFields = {
  type: optional(anyText({ description: "Cinder volume type." })),
  availabilityZone: optional(availabilityZone),
};

const fixedIPs = () => optional(list(object({ subnet: optional(subnetParameter), ipAddress: optional(anyText()) })));
const addressPairs = () => optional(list(object({ ipAddress: nonEmpty(), macAddress: optional(anyText()) })));

/** A further network on a trunk port, as a VLAN. Not in upstream's kinds. */
const subportSpec = object({
  segmentationID: int32({ minimum: 1, maximum: 4094, description: "VLAN in the server; unique on the trunk." }),
  segmentationType: optional(oneOf(["vlan", "inherit"], { default: "vlan" })),
  network: optional(neutronParameter),
  fixedIPs: fixedIPs(),
  nameSuffix: optional(anyText({ description: "Ends the port's name in place of the segmentation ID." })),
  description: optional(anyText()),
  macAddress: optional(anyText()),
  securityGroups: optional(list(neutronParameter)),
  allowedAddressPairs: addressPairs(),
  enablePortSecurity: optional(flag()),
  tags: optional(setOf(anyText())),
});
/** One port on the trunk of another. */
export type SubportSpec = Static<typeof subportSpec>;

const portSpec = object({
  network: optional(neutronParameter),
  fixedIPs: fixedIPs(),
  nameSuffix: optional(anyText({ description: "Ends the port's name in place of its index." })),
  description: optional(anyText()),
  adminStateUp: optional(flag()),
  macAddress: optional(anyText()),
  securityGroups: optional(list(neutronParameter)),
  allowedAddressPairs: addressPairs(),
  enablePortSecurity: optional(flag()),
  trunk: optional(flag()),
  subports: optional(
    listByKey(subportSpec, ["segmentationID"], { description: "Ports on the trunk, which trunk: true makes." }),
  ),
  hostID: optional(anyText()),
  vnicType: optional(anyText()),
  profile: optional(object({ ovsHWOffload: optional(flag()), trustedVF: optional(flag()) })),
  propagateUplinkStatus: optional(flag()),
  valueSpecs: optional(listByKey(object({ name: nonEmpty(), key: nonEmpty(), value: nonEmpty() }), ["name"])),
  tags: optional(setOf(anyText())),
});
/** A port that a machine is given. */
export type PortSpec = Static<typeof portSpec>;

/** What a server is made from. */
export const machineSpec = object({
  flavor: object(
    { id: optional(anyText()), filter: optional(object({ name: optional(anyText()) })) },
    { description: "Nova flavor, by id or name." },
  ),
  image: object(
    {
      id: optional(uuid()),
      filter: optional(object({ name: optional(anyText()), tags: optional(setOf(anyText())) })),
      imageRef: optional(object({ name: nonEmpty() })),
    },
    { description: "Glance image, by id or by a filter that fits exactly one." },
  ),
  sshKeyName: optional(anyText({ description: "Nova key pair." })),
  ports: optional(list(portSpec, { description: "Without any: one port on the cluster's network." })),
  securityGroups: optional(list(neutronParameter, { description: "Added to every port that has port security." })),
  trunk: optional(flag()),
  tags: optional(setOf(anyText(), { description: "Tags of the server and its ports." })),
  serverMetadata: optional(listByKey(object({ key: text(1, 255), value: text(1, 255) }), ["key"])),
  configDrive: optional(flag()),
  rootVolume: optional(object({ sizeGiB: int32({ minimum: 1 }), ...volumeFields })),
  additionalBlockDevices: optional(
    listByKey(
      object({
        name: nonEmpty('Unique name, not "root".'),
        sizeGiB: int32({ minimum: 1 }),
        storage: object({ type: oneOf(["Local", "Volume"]), volume: optional(object(volumeFields)) }),
      }),
      ["name"],
    ),
  ),
  serverGroup: optional(object({ id: optional(uuid()), filter: optional(object({ name: optional(anyText()) })) })),
  schedulerHintAdditionalProperties: optional(
    listByKey(
      object({
        name: nonEmpty(),
        value: object({
          type: oneOf(["Bool", "String", "Number"]),
          bool: optional(flag()),
          number: optional(int32()),
          string: optional(text(1, 255)),
        }),
      }),
      ["name"],
    ),
  ),
  floatingIPPoolRef: optional(object({ apiGroup: optional(anyText()), kind: nonEmpty(), name: nonEmpty() })),
  identityRef: optional(identityReference),
  providerID: optional(anyText({ description: "openstack://[region]/uuid; written by the controller." })),
});
/** Flavor, image, ports and volumes of a server. */
export type OpenStackMachineSpec = Static<typeof machineSpec>;
