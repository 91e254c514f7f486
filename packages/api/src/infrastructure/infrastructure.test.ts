import { Check } from "typebox/schema";
import { describe, expect, it } from "vitest";
import { toCustomResourceDefinition } from "../schema/crd.ts";
import { unknownFields, withDefaults } from "../schema/conformity.ts";
import { infrastructureKinds } from "./index.ts";

function schemaOf(kind: string) {
  const found = infrastructureKinds.find((k) => k.kind === kind);
  if (!found) throw new Error(`no kind ${kind}`);
  return toCustomResourceDefinition(found).spec.versions[0]?.schema.openAPIV3Schema ?? {};
}

const identityRef = { cloudName: "openstack", name: "demo-cloud-config" };

const machineSpec = {
  configDrive: true,
  flavor: { filter: { name: "m1.medium" } },
  image: { filter: { name: "ubuntu-24.04-kube-v1.34.0", tags: ["kube"] } },
  identityRef: { ...identityRef, region: "RegionOne", type: "Secret" },
  sshKeyName: "admin",
  securityGroups: [{ filter: { name: "ssh" } }, { id: "0c8b4b0e-6f0c-4f5c-9c41-1d1e6a1f4f11" }],
  ports: [
    {
      network: { filter: { name: "storage", tagsAny: ["a"] } },
      fixedIPs: [{ subnet: { filter: { cidr: "10.9.0.0/24", ipVersion: 4 } }, ipAddress: "10.9.0.7" }],
      nameSuffix: "storage",
      allowedAddressPairs: [{ ipAddress: "10.244.0.0/16" }],
      enablePortSecurity: true,
      profile: { trustedVF: true },
      valueSpecs: [{ name: "x", key: "binding:x", value: "1" }],
      tags: ["blue"],
      vnicType: "direct",
    },
  ],
  rootVolume: { sizeGiB: 30, type: "fast", availabilityZone: { from: "Machine" } },
  additionalBlockDevices: [
    {
      name: "etcd",
      sizeGiB: 10,
      storage: { type: "Volume", volume: { type: "fast", availabilityZone: { name: "nova" } } },
    },
    { name: "scratch", sizeGiB: 5, storage: { type: "Local" } },
  ],
  schedulerHintAdditionalProperties: [{ name: "query", value: { type: "String", string: "[]" } }],
  serverGroup: { filter: { name: "spread" } },
  serverMetadata: [{ key: "role", value: "node" }],
  tags: ["blue"],
  trunk: false,
};

const group = "infrastructure.cluster.x-k8s.io/v1beta2";
const manifests: Record<string, { kind: string; spec: Record<string, unknown> }> = {
  "a cluster with everything managed": {
    kind: "OpenStackCluster",
    spec: {
      apiServer: {
        enableFloatingIP: true,
        managedLoadBalancer: { enabled: true, allowedCIDRs: ["192.0.2.0/24"], monitor: { delay: 10 }, provider: "ovn" },
        port: 6443,
      },
      bastion: { enabled: true, floatingIP: "172.24.4.9", spec: machineSpec },
      controlPlaneAvailabilityZones: ["nova"],
      externalNetwork: { id: "70ef091b-34d7-4fd7-acbf-20fc4c1d8dca" },
      identityRef,
      managedNetwork: { mtu: 1400, enablePortSecurity: true },
      managedRouter: { externalIPs: [{ fixedIP: "172.24.4.8", subnet: { filter: { name: "public" } } }] },
      managedSecurityGroups: {
        allowAllInClusterTraffic: false,
        clusterNodesSecurityGroupRules: [
          {
            name: "BGP",
            direction: "ingress",
            etherType: "IPv4",
            portRangeMin: 179,
            portRangeMax: 179,
            protocol: "tcp",
            remoteManagedGroups: ["controlplane", "worker"],
          },
        ],
      },
      managedSubnets: [
        {
          cidr: "10.6.0.0/24",
          dnsNameservers: ["9.9.9.9"],
          allocationPools: [{ start: "10.6.0.10", end: "10.6.0.99" }],
        },
      ],
      tags: ["team-a"],
    },
  },
  "a cluster on a network that exists": {
    kind: "OpenStackCluster",
    spec: {
      identityRef,
      network: { filter: { name: "lan", notTags: ["x"], notTagsAny: ["y"], projectID: "p" } },
      subnets: [{ filter: { name: "lan-v4" } }, { id: "531d6046-107b-4007-acaf-0f2a9a514de1" }],
      router: { filter: { name: "r" } },
      enableExternalNetwork: false,
      apiServer: { enableFloatingIP: false, fixedIP: "10.0.0.9" },
      controlPlaneEndpoint: { host: "api.example.org", port: 6443 },
    },
  },
  "a machine with every field": { kind: "OpenStackMachine", spec: machineSpec },
  "a template": { kind: "OpenStackMachineTemplate", spec: { template: { spec: machineSpec } } },
};

describe("infrastructure kinds", () => {
  it.each(Object.entries(manifests))("accept %s", (_name, { kind, spec }) => {
    const schema = schemaOf(kind);
    const object = { apiVersion: group, kind, metadata: { name: "demo" }, spec };
    expect(unknownFields(schema, object)).toEqual([]);
    expect(Check(schema, withDefaults(schema, object))).toBe(true);
  });

  const wrong: [string, string, Record<string, unknown>][] = [
    [
      "two managed subnets",
      "OpenStackCluster",
      { identityRef, managedSubnets: [{ cidr: "10.0.0.0/24" }, { cidr: "10.1.0.0/24" }] },
    ],
    ["no identity", "OpenStackCluster", {}],
    ["no flavor", "OpenStackMachine", { image: {} }],
    ["a root volume of nothing", "OpenStackMachine", { flavor: {}, image: {}, rootVolume: { sizeGiB: 0 } }],
    [
      "a direction that is none",
      "OpenStackCluster",
      { identityRef, managedSecurityGroups: { workerNodesSecurityGroupRules: [{ name: "x", direction: "in" }] } },
    ],
  ];
  it.each(wrong)("refuse %s", (_name, kind, spec) => {
    expect(Check(schemaOf(kind), { apiVersion: group, kind, metadata: { name: "demo" }, spec })).toBe(false);
  });

  it("refuse unknown fields", () => {
    const object = { apiVersion: group, kind: "OpenStackMachine", metadata: { name: "m" }, spec: { flavour: "x" } };
    expect(unknownFields(schemaOf("OpenStackMachine"), object)).toEqual([expect.stringContaining("flavour")]);
  });

  it("carry the labels of an infrastructure provider", () => {
    for (const kind of infrastructureKinds) {
      expect(kind.labels).toEqual({
        "cluster.x-k8s.io/v1beta2": "v1beta2",
        "cluster.x-k8s.io/provider": "infrastructure-openstack",
      });
    }
  });
});
