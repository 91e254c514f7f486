/** A cluster whose control plane is machines that kubeadm makes. */

export const NAME = "kubeadm";
/** Addresses of the machines and of the API's endpoint. */
export const SUBNET = "10.206.0.0/24";

const CORE = "cluster.x-k8s.io";
const INFRASTRUCTURE = `infrastructure.${CORE}`;
const CONTROL_PLANE = `controlplane.${CORE}`;

interface ClusterRequest {
  /** A clouds.yaml, and its entry. */
  readonly clouds: string;
  readonly entry: string;
  readonly version: string;
}

const object = (apiVersion: string, kind: string, name: string, spec: object): object => ({
  apiVersion,
  kind,
  metadata: { name },
  spec,
});

const reference = (apiGroup: string, kind: string, name: string): object => ({ apiGroup, kind, name });

/** The name of what machines of one release are made from. */
export const templateName = (version: string): string => `${NAME}-${version.replaceAll(".", "-")}`;

/** What machines of one release are made from: the image has the kubeadm and the kubelet of that release. */
export function machineTemplate(version: string, image: string): object {
  return object(`${INFRASTRUCTURE}/v1beta2`, "OpenStackMachineTemplate", templateName(version), {
    template: { spec: { flavor: { filter: { name: "m1.medium" } }, image: { id: image } } },
  });
}

/** The Secret with credentials, the Cluster, its network and load balancer, and a control plane of one machine. */
export function clusterManifests({ clouds, entry, version }: ClusterRequest): readonly object[] {
  return [
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: `${NAME}-cloud-config` },
      stringData: { "clouds.yaml": clouds },
    },
    object(`${CORE}/v1beta2`, "Cluster", NAME, {
      clusterNetwork: { pods: { cidrBlocks: ["10.244.0.0/16"] }, serviceDomain: "cluster.local" },
      controlPlaneRef: reference(CONTROL_PLANE, "KubeadmControlPlane", NAME),
      infrastructureRef: reference(INFRASTRUCTURE, "OpenStackCluster", NAME),
    }),
    object(`${INFRASTRUCTURE}/v1beta2`, "OpenStackCluster", NAME, {
      // Monitors of OVN's provider guard the address itself, not a floating IP of it.
      apiServer: {
        enableFloatingIP: false,
        managedLoadBalancer: {
          enabled: true,
          provider: "ovn",
          monitor: { delay: 3, timeout: 2, maxRetries: 1, maxRetriesDown: 2 },
        },
      },
      // Servers of the other zone have no namespace.
      controlPlaneAvailabilityZones: ["nova"],
      externalNetwork: { filter: { name: "public" } },
      identityRef: { cloudName: entry, name: `${NAME}-cloud-config` },
      managedSecurityGroups: { allowAllInClusterTraffic: true },
      managedSubnets: [{ cidr: SUBNET }],
    }),
    object(`${CONTROL_PLANE}/v1beta2`, "KubeadmControlPlane", NAME, {
      kubeadmConfigSpec,
      machineTemplate: {
        spec: {
          infrastructureRef: reference(INFRASTRUCTURE, "OpenStackMachineTemplate", templateName(version)),
          // No pod of the cluster needs longer to go.
          deletion: { nodeDrainTimeoutSeconds: 120, nodeVolumeDetachTimeoutSeconds: 60 },
        },
      },
      replicas: 1,
      version,
    }),
  ];
}

/**
 * Lets a machine of the control plane be replaced whose kubelet has not reported for some seconds. A Node that is not
 * Ready is not enough: each is so while its pod network comes up.
 */
export const healthCheck: object = object(`${CORE}/v1beta2`, "MachineHealthCheck", NAME, {
  clusterName: NAME,
  selector: { matchLabels: { [`${CORE}/control-plane`]: "" } },
  checks: {
    nodeStartupTimeoutSeconds: 3600,
    unhealthyNodeConditions: [{ type: "Ready", status: "Unknown", timeoutSeconds: 10 }],
  },
});

/** kube-proxy must not set the host's connection tracking, which a namespace may only read. */
const KUBE_PROXY = `---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
conntrack:
  maxPerCore: 0
`;
const [INIT, PROXY] = ["/run/kubeadm/kubeadm.yaml", "/etc/kubernetes/kube-proxy.yaml"];
/** Two processors play four machines: nothing here may end because it was slow. */
const TIMEOUT_SECONDS = 1800;

const registration = {
  nodeRegistration: {
    name: "{{ local_hostname }}",
    kubeletExtraArgs: [{ name: "provider-id", value: "openstack:///'{{ instance_id }}'" }],
  },
  timeouts: {
    controlPlaneComponentHealthCheckSeconds: TIMEOUT_SECONDS,
    discoverySeconds: TIMEOUT_SECONDS,
    etcdAPICallSeconds: TIMEOUT_SECONDS,
    kubeletHealthCheckSeconds: TIMEOUT_SECONDS,
    kubernetesAPICallSeconds: TIMEOUT_SECONDS,
    tlsBootstrapSeconds: TIMEOUT_SECONDS,
  },
};

const kubeadmConfigSpec = {
  clusterConfiguration: {
    etcd: {
      local: {
        extraArgs: [
          { name: "heartbeat-interval", value: "500" },
          { name: "election-timeout", value: "5000" },
        ],
      },
    },
  },
  initConfiguration: registration,
  joinConfiguration: registration,
  files: [{ path: PROXY, owner: "root:root", permissions: "0644", content: KUBE_PROXY }],
  preKubeadmCommands: [`[ ! -f ${INIT} ] || cat ${PROXY} >>${INIT}`],
};
