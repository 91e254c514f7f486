import { stringify } from "yaml";
import type { JoinConfiguration } from "../join-configuration.ts";
import type { BootedMachine } from "../interface.ts";

/** Paths inside the machine, where kubeadm, the kubelet and containerd have them on a server. */
export const paths = {
  kubeconfig: "/etc/kubernetes/kubelet.conf",
  authority: "/etc/kubernetes/pki/ca.crt",
  bootstrapKubeconfig: "/etc/kubernetes/bootstrap-kubelet.conf",
  kubeletConfiguration: "/var/lib/kubelet/config.yaml",
  kubeletFlags: "/var/lib/kubelet/kubeadm-flags.env",
  kubeletDropIn: "/var/lib/kubelet/config.d/10-machine.conf",
  booted: "/var/lib/cloud/begun",
  clientCertificate: "/var/lib/kubelet/pki/kubelet-client-current.pem",
  containerdConfiguration: "/run/containerd/config.toml",
  networkTemplate: "/run/containerd/network.json",
  containerdSocket: "/run/containerd/containerd.sock",
  logs: "/var/log/machine",
} as const;

/** Folders that a machine has for itself, on its disk. */
export const DISK_FOLDERS = [
  "/etc/cni",
  "/etc/kubernetes",
  "/var/lib/cni",
  "/var/lib/containerd",
  "/var/lib/kubelet",
  "/var/log/containers",
  "/var/log/machine",
  "/var/log/pods",
] as const;

/** Folders that are empty at each boot. */
export const BOOT_FOLDERS = ["/run/containerd", "/run/flannel", "/run/netns"] as const;

/** The folders that a machine does not share with its host. */
export interface MachineFolders {
  readonly onDisk: readonly string[];
  readonly ofBoot: readonly string[];
}

/** Those of a machine that boots from an image of its own, which may be of a control plane. */
export const imageFolders: MachineFolders = {
  onDisk: [...DISK_FOLDERS, "/usr/libexec/kubernetes", "/var/lib/cloud", "/var/lib/etcd"],
  ofBoot: [...BOOT_FOLDERS, "/run/cluster-api", "/run/kubeadm"],
};

/** What the host has, beyond what the machine's flavor may use of it. */
export interface HostResources {
  readonly cpu: number;
  readonly memoryMiB: number;
}

/** The cgroup below which all of a machine's pods are. */
export function cgroupOf(machine: Pick<BootedMachine, "id">): string {
  return `/causeway-machines/${machine.id}`;
}

/**
 * The kubelet's configuration: what `kubeadm join` writes, for cgroup v1 without systemd. What the host has more than
 * the machine's flavor is reserved, so that a Node offers what its flavor promises.
 * @see https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/
 */
export function kubeletConfiguration(machine: BootedMachine, join: JoinConfiguration, host: HostResources): string {
  return stringify({
    ...ofMachine(machine, host),
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: paths.authority },
    },
    authorization: { mode: "Webhook" },
    clusterDNS: [join.kubeletArgs["cluster-dns"] ?? "10.96.0.10"],
    clusterDomain: join.kubeletArgs["cluster-domain"] ?? "cluster.local",
    registerWithTaints: join.taints,
    rotateCertificates: true,
    serverTLSBootstrap: true,
  });
}

/** What a machine that boots from an image of its own says of itself, over the configuration that kubeadm writes. */
export function kubeletDropIn(machine: BootedMachine, host: HostResources): string {
  return stringify(ofMachine(machine, host));
}

/** The part of a kubelet's configuration that the machine decides, whatever its cluster. */
function ofMachine(machine: BootedMachine, host: HostResources): Record<string, unknown> {
  const { cpu, memoryMiB } = machine.resources;
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    cgroupDriver: "cgroupfs",
    cgroupRoot: cgroupOf(machine),
    failCgroupV1: false,
    failSwapOn: false,
    containerRuntimeEndpoint: `unix://${paths.containerdSocket}`,
    // The host's disk is not the machine's: how full it is says nothing about the machine.
    evictionHard: { "memory.available": "50Mi", "nodefs.available": "0%", "imagefs.available": "0%" },
    imageGCHighThresholdPercent: 100,
    kubeReserved: {
      cpu: `${Math.max(0, host.cpu - cpu) * 1000}m`,
      memory: `${Math.max(0, host.memoryMiB - memoryMiB)}Mi`,
    },
  };
}

/** Flags that the configuration file has a field for, or that this module decides. */
const DECIDED = new Set([
  "bootstrap-kubeconfig",
  "cert-dir",
  "cgroup-driver",
  "cgroup-root",
  "cluster-dns",
  "cluster-domain",
  "config",
  "container-runtime-endpoint",
  "hostname-override",
  "kubeconfig",
  "register-with-taints",
  "root-dir",
]);

/**
 * The kubelet's flags: those of the join configuration, as kubeadm passes them, and those that are this machine's own.
 */
export function kubeletFlags(nodeName: string, join: JoinConfiguration): string[] {
  const given = Object.entries(join.kubeletArgs).filter(([name]) => !DECIDED.has(name));
  return [
    `--config=${paths.kubeletConfiguration}`,
    `--kubeconfig=${paths.kubeconfig}`,
    `--hostname-override=${nodeName}`,
    ...given.map(([name, value]) => `--${name}=${value}`),
  ];
}

/** The kubelet's kubeconfig, which names the file that the kubelet renews its certificate in. */
export function kubeletKubeconfig(server: string, authority: string): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "default", cluster: { server, "certificate-authority-data": Buffer.from(authority).toString("base64") } },
    ],
    users: [
      {
        name: "default",
        user: { "client-certificate": paths.clientCertificate, "client-key": paths.clientCertificate },
      },
    ],
    contexts: [{ name: "default", context: { cluster: "default", user: "default" } }],
    "current-context": "default",
  });
}

/** The image of the container that holds a pod's namespaces. */
export const PAUSE_IMAGE = "registry.k8s.io/pause:3.10";

/**
 * Who makes the network of a machine's pods: the machine, with the Node's podCIDR and routes of the cloud, or an add-on
 * of its cluster.
 */
export type PodNetwork = "routes" | "addon";

/**
 * containerd's configuration (version 2, containerd 1.6): its own folders, Debian's CNI plugins, a pod network made
 * from the Node's podCIDR. With an add-on the Node is not ready until that has written a network into /etc/cni/net.d.
 */
export function containerdConfiguration(podNetwork: PodNetwork = "routes"): string {
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd/state"
oom_score = 0

[grpc]
  address = "${paths.containerdSocket}"

[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
${podNetwork === "routes" ? `    conf_template = "${paths.networkTemplate}"\n` : ""}  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
`;
}

/**
 * The pod network of one machine: a bridge with the Node's podCIDR, which containerd fills in when the kubelet passes
 * it on. Pods leave the machine with its address.
 * @see https://www.cni.dev/plugins/current/main/bridge/
 */
export function networkTemplate(): string {
  return JSON.stringify(
    {
      name: "pods",
      cniVersion: "1.0.0",
      plugins: [
        {
          type: "bridge",
          bridge: "cni0",
          isDefaultGateway: true,
          hairpinMode: true,
          ipMasq: true,
          ipam: { type: "host-local", ranges: [[{ subnet: "{{.PodCIDR}}" }]] },
        },
        { type: "portmap", capabilities: { portMappings: true } },
      ],
    },
    null,
    2,
  );
}
