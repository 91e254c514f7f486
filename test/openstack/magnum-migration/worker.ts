/** A worker of Magnum's driver with a real kubelet and containerd (tools/node), whose certificate Magnum signed. */
import { spawn } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { renderKubeconfig } from "@causeway/kubernetes";
import { fileIdentity, type BootedMachine } from "@causeway/machine-agent";
import { stringify } from "yaml";
import type { Certificates } from "./certificates.ts";
import { ended, entered, type Files } from "./machine.ts";
import { unit } from "./master.ts";

const START = resolve(import.meta.dirname, "../../../packages/causeway/src/start.js");

export interface WorkerOf {
  readonly root: string;
  readonly server: { readonly id: string; readonly name: string; readonly address: string };
  readonly certificates: Certificates;
  readonly parameters: Readonly<Record<string, string>>;
  readonly kubelet: string;
  readonly images: string;
}

export interface Worker {
  stop(): Promise<void>;
}

const endpointOf = (parameters: WorkerOf["parameters"]): string =>
  `${parameters["KUBE_MASTER_IP"] ?? ""}:${parameters["KUBE_API_PORT"] ?? ""}`;

/** The unit of kube-proxy, which the driver runs on each of its nodes. */
export async function proxyFiles({
  server,
  certificates,
  parameters,
  kubelet,
}: Pick<WorkerOf, "server" | "certificates" | "parameters" | "kubelet">): Promise<Files> {
  const kubeconfig = renderKubeconfig({
    server: `https://${endpointOf(parameters)}`,
    ca: await certificates.authority("kubernetes"),
    ...(await certificates.issue("kubelet", {
      commonName: "system:kube-proxy",
      organizations: ["system:node-proxier"],
    })),
    clusterName: parameters["CLUSTER_UUID"] ?? "",
    userName: "kube-proxy",
  });
  const flags = [
    "--kubeconfig=/etc/kubernetes/proxy-config.yaml",
    `--cluster-cidr=${parameters["PODS_NETWORK_CIDR"] ?? ""}`,
    `--hostname-override=${server.name}`,
    "--proxy-mode=iptables",
    "--metrics-bind-address=127.0.0.1:10249",
    "--conntrack-max-per-core=0 --conntrack-tcp-timeout-established=0 --conntrack-tcp-timeout-close-wait=0",
  ];
  return {
    "etc/kubernetes/proxy-config.yaml": kubeconfig,
    "etc/systemd/system/kube-proxy.service": unit(`${join(dirname(kubelet), "kube-proxy")} ${flags.join(" ")}`),
  };
}

/** Starts it in its server's namespace. */
export async function startWorker({ root, server, certificates, parameters, ...programs }: WorkerOf): Promise<Worker> {
  const { id, name, address } = server;
  const value = (key: string): string => parameters[key] ?? "";
  const endpoint = endpointOf(parameters);
  const authority = await certificates.authority("kubernetes");
  const names = { commonName: `system:node:${name}`, organizations: ["system:nodes"] };
  const own = await certificates.issue("kubelet", { ...names, dnsNames: [name], ipAddresses: [address] });
  const disk = join(root, `${address}.worker`);
  // It never joins: its certificate is there when it boots, as the driver's script has it.
  await fileIdentity(disk).save({ nodeName: name, server: `https://${endpoint}`, authority, ...own });
  const machine: BootedMachine = {
    id,
    name,
    zone: "nova",
    userData: userData(endpoint, {
      "cluster-dns": value("DNS_SERVICE_IP"),
      "node-ip": address,
      "node-labels": `magnum.openstack.org/role=${value("NODEGROUP_ROLE")},magnum.openstack.org/nodegroup=${value("NODEGROUP_NAME")}`,
      "provider-id": `openstack:///${id}`,
    }),
    addresses: [{ type: "InternalIP", address }],
    resources: { cpu: 1, memoryMiB: 2048, diskGiB: 20 },
  };
  const program = [process.execPath, "--max-semi-space-size=1", START, "machine", "--disk", disk];
  const real = ["--kubelet", "real", "--kubelet-path", programs.kubelet, "--images", programs.images];
  const child = spawn("nsenter", [...entered(id), ...program, ...real], {
    stdio: ["pipe", "inherit", "inherit"],
    detached: true,
  });
  child.stdin.on("error", () => {});
  child.stdin.write(`${JSON.stringify(machine)}\n`);
  return { stop: () => ended(child) };
}

function userData(endpoint: string, args: Readonly<Record<string, string>>): string {
  const content = stringify({
    apiVersion: "kubeadm.k8s.io/v1beta4",
    kind: "JoinConfiguration",
    discovery: {
      bootstrapToken: {
        token: "aaaaaa.aaaaaaaaaaaaaaaa",
        apiServerEndpoint: endpoint,
        caCertHashes: [`sha256:${"0".repeat(64)}`],
      },
    },
    nodeRegistration: { kubeletExtraArgs: Object.entries(args).map(([name, value]) => ({ name, value })) },
  });
  const document = stringify({
    write_files: [{ path: "/run/join.yaml", content }],
    runcmd: ["kubeadm join --config /run/join.yaml"],
  });
  return `#cloud-config\n${document}`;
}
