/** Kubernetes' own programs, started with the flags of kubeadm, with routes to nodes and pods. */
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuthority, issueCertificate, type KeyPair } from "@causeway/foundation";
import { createClient, loadKubeconfig } from "@causeway/kubernetes";
import { freePorts } from "../../support/free-ports.ts";
import { launchInto } from "../../support/hollow-node.ts";
import { eventually } from "../../support/processes.ts";
import { kubeconfigFor } from "../api/servers.ts";
import { applyAddons, awaitAddons } from "./addons.ts";
import type { Environment, Place } from "./interface.ts";
import { joinObjects } from "./join-objects.ts";
import { kubectl } from "./kubectl.ts";
import { openNetwork } from "./network.ts";
import { startWorkers } from "./workers.ts";

const DNS = "10.96.0.10";
const POD_CIDR = "10.78.0.0/16";
const SERVICE_CIDR = "10.96.0.0/12";
const PORT = 6443;
const DAY = 86_400_000;
const STARTUP = 300_000;

type Keep = (name: string, text: string) => string;

export async function startPlain(environment: Environment, dir: string): Promise<Place> {
  const network = openNetwork({ prefix: "10.77.0", name: "cwplain" });
  const { host } = network;
  const url = `https://${host}:${PORT}`;
  const authority = await createAuthority({ commonName: "kubernetes", lifetime: DAY });
  const accounts = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const keep: Keep = (name, text) => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const key = keep("sa.key", accounts.privateKey);
  const running: (() => Promise<void>)[] = [];
  const start = (name: string, args: readonly string[]): void => {
    running.unshift(launchInto(join(dir, `${name}.log`), join(environment.binaries, name), args));
  };
  const close = async (): Promise<void> => {
    for (const end of running) await end();
    network.close();
  };
  try {
    const [client = 0, peer = 0] = await freePorts(2);
    start("etcd", etcdArgs(dir, client, peer));
    const pki = await servingFiles(authority, host, keep);
    const signing = [`--service-account-key-file=${keep("sa.pub", accounts.publicKey)}`];
    signing.push(`--service-account-signing-key-file=${key}`);
    start("kube-apiserver", [...apiArgs(client, host), ...pki, ...signing]);
    const kubeconfig = keep("admin.json", await kubeconfigFor({ url, authority }, ADMINISTRATOR));
    const api = createClient(loadKubeconfig({ path: kubeconfig }));
    await eventually(STARTUP, async () => (await api.request("GET", "/readyz")) === "ok");
    await api.close();
    const as = async (user: string) => keep(`${user}.json`, await kubeconfigFor({ url, authority }, { user }));
    const common = ["--leader-elect=false", "--secure-port=0"];
    const manager = await as("system:kube-controller-manager");
    start("kube-controller-manager", [`--kubeconfig=${manager}`, ...common, ...managerArgs(keep, authority, key)]);
    start("kube-scheduler", [`--kubeconfig=${await as("system:kube-scheduler")}`, ...common]);
    const list = { apiVersion: "v1", kind: "List", items: joinObjects(url, authority.certificate) };
    await kubectl(kubeconfig, "create", "-f", keep("join.json", JSON.stringify(list)));
    const facts = {
      server: url,
      version: environment.version,
      podCidr: POD_CIDR,
      serviceAddress: "10.96.0.1",
      dnsAddress: DNS,
      dnsDomain: "cluster.local",
    };
    await applyAddons({ kubeconfig, dir }, facts, [{ name: "KubeProxy" }, { name: "CoreDNS" }]);
    const endpoint = `${host}:${PORT}`;
    const where = { network, kubeconfig, endpoint, dns: DNS, environment, dir, routes: true };
    running.unshift(await startWorkers(where));
    await awaitAddons(kubeconfig);
    return { kubeconfig, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const ADMINISTRATOR = { user: "kubernetes-admin", groups: ["system:masters"] };

function etcdArgs(dir: string, client: number, peer: number): string[] {
  const at = (port: number): string => `http://127.0.0.1:${port}`;
  return [
    `--data-dir=${join(dir, "etcd")}`,
    "--name=default",
    `--listen-client-urls=${at(client)}`,
    `--advertise-client-urls=${at(client)}`,
    `--listen-peer-urls=${at(peer)}`,
    `--initial-advertise-peer-urls=${at(peer)}`,
    `--initial-cluster=default=${at(peer)}`,
    "--log-level=error",
  ];
}

function apiArgs(etcdPort: number, host: string): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    `--bind-address=${host}`,
    `--advertise-address=${host}`,
    `--secure-port=${PORT}`,
    "--allow-privileged=true",
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--enable-bootstrap-token-auth=true",
    // This machine has routes to pods, and no kube-proxy for Services.
    "--enable-aggregator-routing=true",
    "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
    "--requestheader-allowed-names=front-proxy-client",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-username-headers=X-Remote-User",
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-cluster-ip-range=${SERVICE_CIDR}`,
  ];
}

/** Writes the API server's certificates; the flags that name them. */
async function servingFiles(authority: KeyPair, host: string, keep: Keep): Promise<string[]> {
  const names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"];
  const front = await createAuthority({ commonName: "front-proxy-ca", lifetime: DAY });
  const issue = (from: KeyPair, commonName: string, more: object = {}) =>
    issueCertificate(from, { commonName, usages: ["client"], lifetime: DAY, ...more });
  const serving = await issue(authority, "kube-apiserver", {
    usages: ["server"],
    dnsNames: names,
    ipAddresses: [host, "127.0.0.1", "10.96.0.1"],
  });
  const kubelet = await issue(authority, "kube-apiserver-kubelet-client", { organizations: ["system:masters"] });
  const proxy = await issue(front, "front-proxy-client");
  return [
    `--client-ca-file=${keep("ca.crt", authority.certificate)}`,
    `--tls-cert-file=${keep("apiserver.crt", serving.certificate)}`,
    `--tls-private-key-file=${keep("apiserver.key", serving.key)}`,
    `--kubelet-client-certificate=${keep("kubelet.crt", kubelet.certificate)}`,
    `--kubelet-client-key=${keep("kubelet.key", kubelet.key)}`,
    `--proxy-client-cert-file=${keep("front-proxy.crt", proxy.certificate)}`,
    `--proxy-client-key-file=${keep("front-proxy.key", proxy.key)}`,
    `--requestheader-client-ca-file=${keep("front-proxy-ca.crt", front.certificate)}`,
  ];
}

function managerArgs(keep: Keep, authority: KeyPair, accountKey: string): string[] {
  const certificate = keep("ca.crt", authority.certificate);
  return [
    "--controllers=*,bootstrapsigner,tokencleaner",
    "--use-service-account-credentials=true",
    "--allocate-node-cidrs=true",
    `--cluster-cidr=${POD_CIDR}`,
    `--service-cluster-ip-range=${SERVICE_CIDR}`,
    `--root-ca-file=${certificate}`,
    `--cluster-signing-cert-file=${certificate}`,
    `--cluster-signing-key-file=${keep("ca.key", authority.key)}`,
    `--service-account-private-key-file=${accountKey}`,
  ];
}
