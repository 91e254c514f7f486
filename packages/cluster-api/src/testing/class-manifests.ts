import type { Cluster, ClusterClass } from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";

/** A ClusterClass with hosted control planes and OpenStack workers, as a person writes it. */

const infrastructure = "infrastructure.cluster.x-k8s.io/v1beta2";
const bootstrap = "bootstrap.cluster.x-k8s.io/v1beta2";
const hosted = "controlplane.cluster.x-k8s.io/v1alpha1";

export function classTemplates(): (KubeObject & { spec: object })[] {
  return [
    {
      apiVersion: infrastructure,
      kind: "OpenStackClusterTemplate",
      metadata: { name: "class-cluster" },
      spec: {
        template: {
          spec: { identityRef: { name: "cloud", cloudName: "openstack" }, managedSubnets: [{ cidr: "10.6.0.0/24" }] },
        },
      },
    },
    {
      apiVersion: hosted,
      kind: "HostedControlPlaneTemplate",
      metadata: { name: "class-control-plane" },
      spec: { template: { spec: {} } },
    },
    {
      apiVersion: bootstrap,
      kind: "KubeadmConfigTemplate",
      metadata: { name: "class-bootstrap" },
      spec: { template: { spec: { preKubeadmCommands: ["swapoff -a"] } } },
    },
    {
      apiVersion: infrastructure,
      kind: "OpenStackMachineTemplate",
      metadata: { name: "class-machine" },
      spec: { template: { spec: { flavor: { filter: { name: "m1.small" } }, image: { filter: { name: "node" } } } } },
    },
  ];
}

export function clusterClass(name = "class", more: Partial<ClusterClass["spec"]> = {}): ClusterClass {
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "ClusterClass",
    metadata: { name },
    spec: {
      infrastructure: {
        templateRef: { apiVersion: infrastructure, kind: "OpenStackClusterTemplate", name: "class-cluster" },
      },
      controlPlane: {
        templateRef: { apiVersion: hosted, kind: "HostedControlPlaneTemplate", name: "class-control-plane" },
      },
      workers: {
        machineDeployments: [
          {
            class: "default-worker",
            bootstrap: {
              templateRef: { apiVersion: bootstrap, kind: "KubeadmConfigTemplate", name: "class-bootstrap" },
            },
            infrastructure: {
              templateRef: { apiVersion: infrastructure, kind: "OpenStackMachineTemplate", name: "class-machine" },
            },
          },
        ],
      },
      variables: [
        { name: "flavor", required: false, schema: { openAPIV3Schema: { type: "string", default: "m1.small" } } },
        { name: "cidr", required: false, schema: { openAPIV3Schema: { type: "string", format: "cidr" } } },
      ],
      patches: [
        {
          name: "flavor",
          definitions: [
            {
              selector: {
                apiVersion: infrastructure,
                kind: "OpenStackMachineTemplate",
                matchResources: { machineDeploymentClass: { names: ["default-*"] } },
              },
              jsonPatches: [
                { op: "replace", path: "/spec/template/spec/flavor/filter/name", valueFrom: { variable: "flavor" } },
                {
                  op: "add",
                  path: "/spec/template/spec/tags",
                  valueFrom: {
                    template: "- {{ .builtin.cluster.name }}\n- {{ .builtin.machineDeployment.topologyName }}\n",
                  },
                },
              ],
            },
          ],
        },
        {
          name: "cidr",
          enabledIf: "{{ if .cidr }}true{{ end }}",
          definitions: [
            {
              selector: {
                apiVersion: infrastructure,
                kind: "OpenStackClusterTemplate",
                matchResources: { infrastructureCluster: true },
              },
              jsonPatches: [
                { op: "replace", path: "/spec/template/spec/managedSubnets/0/cidr", valueFrom: { variable: "cidr" } },
              ],
            },
          ],
        },
      ],
      ...more,
    },
  };
}

export function topologyCluster(workers = [{ class: "default-worker", name: "md-0", replicas: 1 }]): Cluster {
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: "demo" },
    spec: {
      clusterNetwork: { pods: { cidrBlocks: ["192.168.0.0/16"] } },
      topology: { classRef: { name: "class" }, version: "v1.34.0", workers: { machineDeployments: workers } },
    },
  };
}
