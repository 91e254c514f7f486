/** A master as the scripts of Magnum's driver leave it: its files, its units, its certificates. */
import { renderKubeconfig } from "@causeway/kubernetes";
import type { KeyPair } from "@causeway/foundation";
import type { Certificates } from "./certificates.ts";
import type { Files } from "./machine.ts";

export interface MasterOf {
  /** Of heat-params. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly certificates: Certificates;
  /** The folder of etcd and the control plane's programs. */
  readonly programs: string;
  /** Names and addresses of all masters. */
  readonly masters: readonly { readonly name: string; readonly address: string }[];
}

export const controlPlane = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;
const CERTS = "etc/kubernetes/certs";
const NAMES = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"];

export const unit = (command: string, files: readonly string[] = []): string =>
  ["[Service]", ...files.map((file) => `EnvironmentFile=${file}`), `ExecStart=${command}`, "Restart=always", ""].join(
    "\n",
  );

/** The unit of the agent that asks Heat what to do; the test does what it would. */
export const agentUnit: Files = {
  "etc/systemd/system/heat-container-agent.service": unit("sleep infinity"),
};

const pair = (path: string, { certificate, key }: KeyPair): Files => ({
  [`${path}.crt`]: certificate,
  [`${path}.key`]: key,
});

export async function masterFiles(of: MasterOf): Promise<Files> {
  const { parameters: own, certificates } = of;
  const value = (name: string): string => own[name] ?? "";
  const [network = "", ...bits] = value("PORTAL_NETWORK_CIDR").split("/")[0]?.split(".").slice(0, 3) ?? [];
  const service = `${[network, ...bits].join(".")}.1`;
  const addresses = [
    ...["KUBE_NODE_IP", "KUBE_API_PRIVATE_ADDRESS", "KUBE_API_PUBLIC_ADDRESS", "ETCD_LB_VIP"].map(value),
    "127.0.0.1",
    service,
  ];
  const names = { dnsNames: NAMES, ipAddresses: [...new Set(addresses)].filter((one) => one !== "") };
  const admin = await certificates.issue("kubelet", { commonName: "admin", organizations: ["system:masters"] });
  const authority = await certificates.authority("kubernetes");
  const kubeconfig = renderKubeconfig({
    server: `https://127.0.0.1:${value("KUBE_API_PORT")}`,
    ca: authority,
    ...admin,
    clusterName: value("CLUSTER_UUID"),
    userName: "admin",
  });
  return {
    ...agentUnit,
    [`${CERTS}/ca.crt`]: authority,
    [`${CERTS}/ca.key`]: value("CA_KEY"),
    [`${CERTS}/service_account.key`]: value("KUBE_SERVICE_ACCOUNT_KEY"),
    [`${CERTS}/service_account_private.key`]: value("KUBE_SERVICE_ACCOUNT_PRIVATE_KEY"),
    ...pair(`${CERTS}/server`, await certificates.issue("kubelet", { commonName: "kubernetes", ...names })),
    ...pair(`${CERTS}/admin`, admin),
    [`${CERTS}/front-proxy/ca.crt`]: await certificates.authority("front-proxy"),
    ...pair(
      `${CERTS}/front-proxy/server`,
      await certificates.issue("front-proxy", { commonName: "front-proxy", ...names }),
    ),
    "etc/etcd/certs/ca.crt": await certificates.authority("etcd"),
    ...pair("etc/etcd/certs/server", await certificates.issue("etcd", { commonName: "etcd", ...names })),
    "etc/kubernetes/admin.conf": kubeconfig,
    ...etcdFiles(of),
    ...controlPlaneFiles(of),
  };
}

function etcdFiles({ parameters, programs, masters }: MasterOf): Files {
  const [name = "", address = ""] = [parameters["INSTANCE_NAME"], parameters["KUBE_NODE_IP"]];
  const clients = `https://${address}:2379,http://127.0.0.1:2379`;
  const peer = `https://${address}:2380`;
  const certs = "/etc/etcd/certs";
  const security = ["client", "peer"].flatMap((kind) => [
    `${kind}-transport-security:`,
    `  cert-file: ${certs}/server.crt`,
    `  key-file: ${certs}/server.key`,
    "  client-cert-auth: true",
    `  trusted-ca-file: ${certs}/ca.crt`,
  ]);
  const configuration = [
    `name: "${name}"`,
    "data-dir: /var/lib/etcd/default.etcd",
    `listen-peer-urls: "${peer}"`,
    `listen-client-urls: "${clients}"`,
    `initial-advertise-peer-urls: "${peer}"`,
    `advertise-client-urls: "${clients}"`,
    // The driver has a discovery service, where each member finds the others.
    `initial-cluster: "${masters.map((one) => `${one.name}=https://${one.address}:2380`).join(",")}"`,
    "initial-cluster-state: new",
    // Of a machine that is busier than masters are.
    "heartbeat-interval: 500",
    "election-timeout: 5000",
    "log-level: warn",
    ...security,
    "",
  ];
  return {
    "etc/etcd/etcd.conf.yaml": configuration.join("\n"),
    "etc/systemd/system/etcd.service": unit(`${programs}/etcd --config-file /etc/etcd/etcd.conf.yaml`),
  };
}

function controlPlaneFiles({ parameters, programs }: MasterOf): Files {
  const value = (name: string): string => parameters[name] ?? "";
  const certs = `/${CERTS}`;
  const api = [
    `--allow-privileged=${value("KUBE_ALLOW_PRIV")}`,
    "--kubelet-preferred-address-types=InternalIP,Hostname,ExternalIP",
    `--authorization-mode=Node,RBAC --tls-cert-file=${certs}/server.crt --tls-private-key-file=${certs}/server.key`,
    `--client-ca-file=${certs}/ca.crt --service-account-key-file=${certs}/service_account.key`,
    `--service-account-signing-key-file=${certs}/service_account_private.key`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--kubelet-certificate-authority=${certs}/ca.crt --kubelet-client-certificate=${certs}/server.crt`,
    `--kubelet-client-key=${certs}/server.key`,
    `--proxy-client-cert-file=${certs}/front-proxy/server.crt --proxy-client-key-file=${certs}/front-proxy/server.key`,
    "--requestheader-allowed-names=front-proxy-client,kube,kubelet,kubernetes,front-proxy",
    `--requestheader-client-ca-file=${certs}/front-proxy/ca.crt`,
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    "--requestheader-group-headers=X-Remote-Group --requestheader-username-headers=X-Remote-User",
  ];
  const address = `--bind-address=0.0.0.0 --secure-port=${value("KUBE_API_PORT")} --advertise-address=${value("KUBE_NODE_IP")}`;
  const apiServer = {
    KUBE_ETCD_SERVERS: "--etcd-servers=http://127.0.0.1:2379",
    KUBE_API_ADDRESS: address,
    KUBE_SERVICE_ADDRESSES: `--service-cluster-ip-range=${value("PORTAL_NETWORK_CIDR")}`,
    KUBE_ADMISSION_CONTROL: "--enable-admission-plugins=NodeRestriction",
    KUBE_API_ARGS: api.join(" "),
  };
  const manager = [
    "--leader-elect=true --kubeconfig=/etc/kubernetes/admin.conf --secure-port=0",
    `--cluster-name=${value("CLUSTER_UUID")} --allocate-node-cidrs=true`,
    `--cluster-cidr=${value("PODS_NETWORK_CIDR")}`,
    `--service-account-private-key-file=${certs}/service_account_private.key --root-ca-file=${certs}/ca.crt`,
    `--cluster-signing-cert-file=${certs}/ca.crt --cluster-signing-key-file=${certs}/ca.key`,
  ];
  const scheduler = "--leader-elect=true --kubeconfig=/etc/kubernetes/admin.conf --secure-port=0";
  const environment = (values: Readonly<Record<string, string>>): string =>
    `${Object.entries(values)
      .map(([key, text]) => `${key}="${text}"`)
      .join("\n")}\n`;
  const service = (name: string, file: string, words: readonly string[]): Files => ({
    [`etc/systemd/system/${name}.service`]: unit(
      `/bin/bash -c 'exec ${programs}/${name} ${words.map((word) => `$${word}`).join(" ")}'`,
      [`/etc/kubernetes/${file}`],
    ),
  });
  return {
    "etc/kubernetes/apiserver": environment(apiServer),
    "etc/kubernetes/controller-manager": environment({ KUBE_CONTROLLER_MANAGER_ARGS: manager.join(" ") }),
    "etc/kubernetes/scheduler": environment({ KUBE_SCHEDULER_ARGS: scheduler }),
    ...service("kube-apiserver", "apiserver", Object.keys(apiServer)),
    ...service("kube-controller-manager", "controller-manager", ["KUBE_CONTROLLER_MANAGER_ARGS"]),
    ...service("kube-scheduler", "scheduler", ["KUBE_SCHEDULER_ARGS"]),
  };
}
