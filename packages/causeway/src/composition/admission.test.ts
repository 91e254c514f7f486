import { allKinds, Cluster, ClusterClass, conversionsOf, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { clusterApiRules } from "@causeway/cluster-api";
import { openStackRules } from "@causeway/cluster-api-openstack";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { relatedBy } from "./related.ts";

let server: ApiServer;
let client: KubernetesClient;
beforeAll(async () => {
  server = await startApiServer({
    crds: allKinds.map(toCustomResourceDefinition),
    conversions: conversionsOf(allKinds),
    rules: [clusterApiRules(relatedBy(() => client)), openStackRules()],
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

describe("the rules of Cluster API in the embedded API server", () => {
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
  ])("refuse %s", async (_, write, expected) => {
    await expect(write()).rejects.toThrow(expected);
  });
});
