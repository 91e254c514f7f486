import {
  annotations,
  Cluster,
  credentialsManifest,
  HostedControlPlane,
  labels,
  manifest,
  type MagnumCluster,
  type HostedControlPlaneSpec,
  type Manifest,
} from "@causeway/api";
import { desiredControlPlane, magnumLabels, nothingStands, type KeystoneAddress } from "@causeway/magnum-api";
import { ownerReference, Secret, secretData } from "@causeway/kubernetes";
import type { Inventory } from "../../inventory/model.ts";
import type { MigrationRecord } from "../../record/record.ts";

/** "https://HOST:PORT" of the cluster's API. */
export function endpointOf({ apiAddress, api }: Inventory): { host: string; port: number } {
  const url = URL.canParse(apiAddress) ? new URL(apiAddress) : undefined;
  const host = url?.hostname.replaceAll(/^\[|\]$/g, "") ?? api?.vip ?? "";
  return { host, port: Number(url?.port ?? "") || api?.port || 6443 };
}

/** Addresses of Pods and Services, as the driver's defaults have them. */
export function networksOf({ labels: own, template }: Inventory): { pods: string; services: string } {
  const flannel = template["network_driver"] === "flannel" ? own["flannel_network_cidr"] : undefined;
  return {
    pods: flannel ?? own["calico_ipv4pool"] ?? own["flannel_network_cidr"] ?? "10.100.0.0/16",
    services: own["service_cluster_ip_range"] ?? "10.254.0.0/16",
  };
}

/** Name and peer URL of each member of the masters' etcd, which a hosted one joins. */
export type Members = NonNullable<HostedControlPlaneSpec["datastore"]>["members"];

/** The runtime whose etcd can join another one. */
const runtime = "Process";

/**
 * The Cluster and its control plane, at the address that the cluster has; and the credentials of its controllers. The
 * control plane has from the beginning what the Magnum API will apply: the switch keeps the flags, admission plugins
 * and authentication of the labels, and nothing of them changes when the Magnum API takes the cluster over.
 */
export function clusterManifests(
  record: MigrationRecord,
  owner: MagnumCluster,
  given: {
    readonly members: Members;
    readonly peerHost: string;
    readonly cloudsYaml: string;
    readonly keystone: KeystoneAddress;
  },
): readonly Manifest[] {
  const { namespace, name, inventory } = record;
  const { pods, services } = networksOf(inventory);
  const metadata = {
    namespace,
    name,
    labels: { [magnumLabels.uuid]: inventory.uuid, [labels.clusterName]: name },
    annotations: { [annotations.cloudClusterName]: inventory.uuid },
    ownerReferences: [ownerReference(owner)],
  };
  const { members, peerHost, cloudsYaml, keystone } = given;
  const names = [...new Set([inventory.api?.vip ?? "", ...inventory.masters.map(({ address }) => address)])].filter(
    Boolean,
  );
  return [
    credentialsManifest(
      { namespace, name, labels: { [magnumLabels.uuid]: inventory.uuid }, owner: ownerReference(owner) },
      cloudsYaml,
    ),
    manifest(HostedControlPlane, {
      apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
      kind: "HostedControlPlane",
      metadata,
      spec: {
        ...desiredControlPlane(owner, { ...keystone, runtime }, nothingStands),
        runtime,
        endpoint: endpointOf(inventory),
        names,
        datastore: { stage: "Reserve", members, peerHost },
      },
    }),
    manifest(Cluster, {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      metadata,
      spec: {
        clusterNetwork: { services: { cidrBlocks: [services] }, pods: { cidrBlocks: [pods] } },
        controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name },
      },
    }),
  ];
}

/** A Secret of the cluster's roots or certificates, as the contract names them. */
export function secretManifest(
  { namespace, name }: MigrationRecord,
  purpose: string,
  data: Readonly<Record<string, string>>,
): Manifest {
  return manifest(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace,
      name: `${name}-${purpose}`,
      labels: { [labels.clusterName]: name, "clusterctl.cluster.x-k8s.io/move": "true" },
    },
    type: "cluster.x-k8s.io/secret",
    data: secretData(data),
  });
}
