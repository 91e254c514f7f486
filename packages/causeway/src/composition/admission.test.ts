import {
  allKinds,
  Cluster,
  ClusterClass,
  conversionsOf,
  OpenStackCluster,
  OpenStackClusterIdentity,
  operatorKinds,
  toCustomResourceDefinition,
} from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { clusterApiRules } from "@causeway/cluster-api";
import { identityUsersOf, openStackRules } from "@causeway/cluster-api-openstack";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deploymentRules } from "./deployment-rules.ts";
import { relatedBy } from "./related.ts";

let server: ApiServer;
let client: KubernetesClient;
beforeAll(async () => {
  server = await startApiServer({
    crds: [...allKinds, ...operatorKinds].map(toCustomResourceDefinition),
    conversions: conversionsOf(allKinds),
    rules: [clusterApiRules(relatedBy(() => client)), openStackRules(identityUsersOf(() => client)), deploymentRules()],
  });
  client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
});
afterAll(async () => {
  await client.close();
  await server.close();
});

const infrastructure = "infrastructure.cluster.x-k8s.io";
const template = (kind: string, group = infrastructure) => ({
  templateRef: { apiVersion: `${group}/v1beta2`, kind, name: "t" },
});
const post = (group: string, version: string, plural: string, object: object) =>
  client.request("POST", `/apis/${group}/${version}/namespaces/default/${plural}`, {
    body: { apiVersion: `${group}/${version}`, ...object },
  });

const deployment = (option: string) => ({
  kind: "OpenStackDeployment",
  metadata: { name: "cloud" },
  spec: {
    release: "2025.1",
    region: "RegionOne",
    domain: "cloud.example.org",
    nodeGroups: [{ name: "all", nodeSelector: { role: "all" }, roles: ["Control", "Compute", "Network"] }],
    services: [{ name: "nova", configuration: [{ section: "DEFAULT", option, value: "4" }] }],
  },
});

describe("the rules of the management API", () => {
  test("take an OpenStackDeployment whose options its release has", async () => {
    const made = post("openstack.causeway.dev", "v1alpha1", "openstackdeployments", deployment("cpu_allocation_ratio"));
    await expect(made).resolves.toBeDefined();
  });

  test("keep a ClusterClass that is used, and judge the variables of its Clusters", async () => {
    const metadata = { name: "c", namespace: "default" };
    await client.create(ClusterClass, {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "ClusterClass",
      metadata,
      spec: {
        infrastructure: template("OpenStackClusterTemplate"),
        controlPlane: template("KubeadmControlPlaneTemplate", "controlplane.cluster.x-k8s.io"),
        variables: [{ name: "size", required: true, schema: { openAPIV3Schema: { type: "integer" } } }],
      },
    });
    const cluster = (value: unknown) => ({
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      metadata: { name: "one", namespace: "default" },
      spec: { topology: { classRef: { name: "c" }, version: "v1.34.0", variables: [{ name: "size", value }] } },
    });
    await expect(client.create(Cluster, cluster("a"))).rejects.toThrow(/must be of type integer/);
    await client.create(Cluster, cluster(1));
    await expect(client.delete(ClusterClass, metadata)).rejects.toThrow(/used by 1 Cluster.*default\/one/);
    await client.delete(Cluster, { name: "one", namespace: "default" });
    await client.delete(ClusterClass, metadata);
  });

  test("keep an OpenStackClusterIdentity that is used, in any namespace", async () => {
    const identity = { namespace: "", name: "shared" };
    await client.create(OpenStackClusterIdentity, {
      apiVersion: `${infrastructure}/v1alpha1`,
      kind: "OpenStackClusterIdentity",
      metadata: identity,
      spec: { secretRef: { name: "s", namespace: "default" } },
    });
    await post(infrastructure, "v1beta2", "openstackclusters", {
      kind: "OpenStackCluster",
      metadata: { name: "of-shared" },
      spec: { identityRef: { type: "ClusterIdentity", name: "shared", cloudName: "c" } },
    });
    await expect(client.delete(OpenStackClusterIdentity, identity)).rejects.toThrow(
      /used by OpenStackCluster default\/of-shared; delete them first/,
    );
    await client.delete(OpenStackCluster, { namespace: "default", name: "of-shared" });
    await client.delete(OpenStackClusterIdentity, identity);
  });

  test.each<[string, () => Promise<unknown>, RegExp]>([
    [
      "a control plane of two machines",
      () =>
        post("controlplane.cluster.x-k8s.io", "v1beta2", "kubeadmcontrolplanes", {
          kind: "KubeadmControlPlane",
          metadata: { name: "k" },
          spec: {
            replicas: 2,
            version: "v1.34.0",
            machineTemplate: {
              spec: { infrastructureRef: { apiGroup: infrastructure, kind: "OpenStackMachineTemplate", name: "t" } },
            },
            kubeadmConfigSpec: {},
          },
        }),
      /must be odd/,
    ],
    [
      "an OpenStackCluster of v1beta1 that contradicts itself",
      () =>
        post(infrastructure, "v1beta1", "openstackclusters", {
          kind: "OpenStackCluster",
          metadata: { name: "o" },
          spec: { identityRef: { name: "c", cloudName: "c" }, disableExternalNetwork: true },
        }),
      /enableFloatingIP: Invalid value/,
    ],
    [
      "an OpenStackServer, of which there is another version alone, with a disk named root",
      () =>
        post(infrastructure, "v1alpha1", "openstackservers", {
          kind: "OpenStackServer",
          metadata: { name: "s" },
          spec: {
            flavor: "m1.tiny",
            image: { id: "5a0b8a3e-1b6f-4c1c-8d9b-0d1d3a7a2f11" },
            sshKeyName: "",
            identityRef: { name: "c", cloudName: "c" },
            ports: [{}],
            additionalBlockDevices: [{ name: "root", sizeGiB: 1, storage: { type: "Local" } }],
          },
        }),
      /root volume/,
    ],
    [
      "an OpenStackFloatingIPPool with an address that is none",
      () =>
        post(infrastructure, "v1alpha1", "openstackfloatingippools", {
          kind: "OpenStackFloatingIPPool",
          metadata: { name: "p" },
          spec: {
            identityRef: { name: "c", cloudName: "c" },
            reclaimPolicy: "Delete",
            preAllocatedFloatingIPs: ["nowhere"],
          },
        }),
      /"nowhere" is not an IPv4 address/,
    ],
    [
      "an OpenStackClusterIdentity whose selector has an unknown operator",
      () =>
        client.create(OpenStackClusterIdentity, {
          apiVersion: `${infrastructure}/v1alpha1`,
          kind: "OpenStackClusterIdentity",
          metadata: { name: "odd", namespace: "" },
          spec: {
            secretRef: { name: "s", namespace: "default" },
            namespaceSelector: { matchExpressions: [{ key: "team", operator: "Equals", values: ["a"] }] },
          },
        }),
      /"Equals" is none of In, NotIn, Exists, DoesNotExist/,
    ],
    [
      "an OpenStackDeployment with an option that its release does not have",
      () => post("openstack.causeway.dev", "v1alpha1", "openstackdeployments", deployment("cpu_alocation_ratio")),
      /spec.services\[0\].configuration\[0\]: nova: \[DEFAULT\] cpu_alocation_ratio: no such option; did you mean cpu_allocation_ratio\?/,
    ],
  ])("refuse %s", async (_, write, expected) => {
    await expect(write()).rejects.toThrow(expected);
  });
});
