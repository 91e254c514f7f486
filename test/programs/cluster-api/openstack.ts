/** A Cluster on OpenStack with a load balancer of its own, as the provider's own template has it. */
import { INFRASTRUCTURE } from "./infrastructure.ts";
import type { Json } from "./world.ts";

const CORE = "cluster.x-k8s.io";

interface ClusterRequest {
  readonly name: string;
  /** A clouds.yaml, and its entry. */
  readonly clouds: string;
  readonly cloud: string;
}

export function openStackCluster({ name, clouds, cloud }: ClusterRequest): readonly Json[] {
  const object = (group: string, kind: string, suffix: string, spec: Json): Json => ({
    apiVersion: `${group}/${group === INFRASTRUCTURE ? "v1beta1" : "v1beta2"}`,
    kind,
    metadata: { name: `${name}${suffix}` },
    spec,
  });
  const machine = (suffix: string): Json =>
    object(INFRASTRUCTURE, "OpenStackMachineTemplate", suffix, {
      template: { spec: { flavor: "m1.small", image: { filter: { name: "cirros" } } } },
    });
  const reference = (apiGroup: string, kind: string, suffix: string): Json => ({
    apiGroup,
    kind,
    name: `${name}${suffix}`,
  });
  const registration = { nodeRegistration: { kubeletExtraArgs: [{ name: "cloud-provider", value: "external" }] } };
  return [
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: `${name}-cloud-config`, labels: { "clusterctl.cluster.x-k8s.io/move": "true" } },
      data: { "clouds.yaml": Buffer.from(clouds).toString("base64") },
    },
    object(INFRASTRUCTURE, "OpenStackCluster", "", {
      apiServerLoadBalancer: { enabled: true },
      externalNetwork: { filter: { name: "public" } },
      identityRef: { cloudName: cloud, name: `${name}-cloud-config` },
      managedSecurityGroups: {},
      managedSubnets: [{ cidr: "10.6.0.0/24", dnsNameservers: ["192.0.2.53"] }],
    }),
    object(CORE, "Cluster", "", {
      clusterNetwork: { pods: { cidrBlocks: ["192.168.0.0/16"] }, serviceDomain: "cluster.local" },
      controlPlaneRef: reference(`controlplane.${CORE}`, "KubeadmControlPlane", "-control-plane"),
      infrastructureRef: reference(INFRASTRUCTURE, "OpenStackCluster", ""),
    }),
    machine("-control-plane"),
    object(`controlplane.${CORE}`, "KubeadmControlPlane", "-control-plane", {
      kubeadmConfigSpec: { initConfiguration: registration, joinConfiguration: registration },
      machineTemplate: {
        spec: { infrastructureRef: reference(INFRASTRUCTURE, "OpenStackMachineTemplate", "-control-plane") },
      },
      replicas: 1,
      version: "v1.34.4",
    }),
    machine("-md-0"),
    object(`bootstrap.${CORE}`, "KubeadmConfigTemplate", "-md-0", {
      template: { spec: { joinConfiguration: registration } },
    }),
    object(CORE, "MachineDeployment", "-md-0", {
      clusterName: name,
      replicas: 1,
      selector: {},
      template: {
        spec: {
          clusterName: name,
          version: "v1.34.4",
          bootstrap: { configRef: reference(`bootstrap.${CORE}`, "KubeadmConfigTemplate", "-md-0") },
          infrastructureRef: reference(INFRASTRUCTURE, "OpenStackMachineTemplate", "-md-0"),
        },
      },
    }),
  ];
}
