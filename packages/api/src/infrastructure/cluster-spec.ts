import Type, { type Static } from "typebox";
import { anyText, flag, int32, list, listByKey, object, oneOf, optional, setOf, text } from "../schema/fields.ts";
import { identityReference, machineSpec, neutronParameter, subnetParameter } from "./parameters.ts";

const nonEmpty = () => Type.String({ minLength: 1 });

const securityGroupRule = object({
  name: nonEmpty(),
  description: optional(anyText()),
  direction: oneOf(["ingress", "egress"]),
  etherType: optional(oneOf(["IPv4", "IPv6"])),
  protocol: optional(anyText()),
  portRangeMin: optional(int32()),
  portRangeMax: optional(int32()),
  remoteGroupID: optional(anyText({ description: 'UUID of a security group, or "self".' })),
  remoteIPPrefix: optional(anyText()),
  remoteManagedGroups: optional(setOf(oneOf(["bastion", "controlplane", "worker"]))),
});
/** A rule of a security group that is managed for a cluster. */
export type SecurityGroupRuleSpec = Static<typeof securityGroupRule>;

const ruleList = () => optional(listByKey(securityGroupRule, ["name"]));

const managedLoadBalancer = object(
  {
    enabled: optional(flag({ default: true })),
    additionalPorts: optional(setOf(int32())),
    allowedCIDRs: optional(setOf(anyText())),
    provider: optional(anyText({ description: "Octavia provider; the cloud's default otherwise." })),
    flavor: optional(anyText({ description: "Octavia flavor." })),
    availabilityZone: optional(anyText()),
    network: optional(neutronParameter),
    subnets: optional(list(subnetParameter)),
    monitor: optional(
      object({
        delay: optional(int32({ minimum: 0, default: 10 })),
        timeout: optional(int32({ minimum: 0, default: 5 })),
        maxRetries: optional(int32({ minimum: 0, maximum: 10, default: 5 })),
        maxRetriesDown: optional(int32({ minimum: 1, maximum: 10, default: 3 })),
      }),
    ),
  },
  { description: "An Octavia load balancer before the API servers." },
);

const apiServer = object({
  enableFloatingIP: optional(flag({ description: "A floating IP on the API endpoint. Default true." })),
  floatingIP: optional(anyText({ description: "A floating IP that exists, kept when the cluster goes." })),
  fixedIP: optional(anyText({ description: "The load balancer's address, or the endpoint without one." })),
  port: optional(int32({ minimum: 0, maximum: 65535, description: "Default 6443." })),
  managedLoadBalancer: optional(managedLoadBalancer),
});

/** What a cluster needs of OpenStack around its machines. */
export const clusterSpec = object({
  identityRef: identityReference,
  managedSubnets: optional(
    list(
      object({
        cidr: nonEmpty(),
        dnsNameservers: optional(list(anyText())),
        allocationPools: optional(list(object({ start: nonEmpty(), end: nonEmpty() }))),
      }),
      { max: 1, description: "Present: a network, a subnet and a router are made for the cluster." },
    ),
  ),
  managedNetwork: optional(object({ mtu: optional(int32()), enablePortSecurity: optional(flag()) })),
  managedRouter: optional(
    object({
      externalIPs: optional(list(object({ fixedIP: optional(anyText()), subnet: subnetParameter }), { min: 1 })),
    }),
  ),
  network: optional(neutronParameter),
  subnets: optional(list(subnetParameter, { description: "Subnets that exist; the first is the primary one." })),
  primarySubnet: optional(subnetParameter),
  router: optional(neutronParameter),
  externalNetwork: optional(neutronParameter),
  enableExternalNetwork: optional(flag({ description: "False: no gateway, no floating IPs. Default true." })),
  apiServer: optional(apiServer),
  managedSecurityGroups: optional(
    object({
      allowAllInClusterTraffic: optional(flag({ default: false })),
      clusterNodesSecurityGroupRules: ruleList(),
      controlPlaneNodesSecurityGroupRules: ruleList(),
      workerNodesSecurityGroupRules: ruleList(),
    }),
  ),
  controlPlaneAvailabilityZones: optional(setOf(anyText())),
  controlPlaneOmitAvailabilityZone: optional(flag()),
  controlPlaneEndpoint: optional(
    object({
      host: optional(text(1, 512)),
      port: optional(int32({ minimum: 1, maximum: 65535 })),
    }),
  ),
  bastion: optional(
    object({
      enabled: optional(flag({ default: true })),
      spec: optional(machineSpec),
      availabilityZone: optional(anyText()),
      floatingIP: optional(Type.String({ format: "ipv4" })),
    }),
  ),
  tags: optional(setOf(anyText(), { description: "Tags of every resource that takes tags." })),
});
/** Network, router, security groups, API endpoint and bastion of a cluster. */
export type OpenStackClusterSpec = Static<typeof clusterSpec>;
