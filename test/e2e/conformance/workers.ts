/** Two machines of tools/node without a cloud, in the namespaces of network.ts. */
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { silentLog, systemClock } from "@causeway/foundation";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { folderDisks, runMachineAgent, type BootedMachine, type MachineAgentOptions } from "@causeway/machine-agent";
import { eventually } from "../../support/processes.ts";
import type { Environment } from "./interface.ts";
import { kubectl } from "./kubectl.ts";
import { ip, type Worker, type WorkerNetwork } from "./network.ts";

const TIMEOUT = 15 * 60_000;
const sources = resolve(import.meta.dirname, "../../../packages/causeway/src");
const START = join(sources, "start.js");
/** Starts a machine in its network namespace, as `causeway machine-agent` does. */
const MACHINES = join(sources, "composition/machines.ts");
const CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

export interface WorkersOf {
  readonly network: WorkerNetwork;
  /** Of the administrator of the cluster that they join. */
  readonly kubeconfig: string;
  /** "10.77.0.1:6443" */
  readonly endpoint: string;
  /** The address of the cluster's DNS. */
  readonly dns: string;
  readonly environment: Environment;
  /** For their disks. */
  readonly dir: string;
  /** Whether this machine is to reach pods directly. */
  readonly routes: boolean;
}

/** Starts them, and waits until both Nodes are Ready, serve, and have routes to each other's pods. */
export async function startWorkers(of: WorkersOf): Promise<() => Promise<void>> {
  const { network, environment, dir } = of;
  const token = await createToken(of);
  const machines = network.workers.map((worker) => machineOf(of, token, worker));
  const stopping = new AbortController();
  const state = join(dir, "machines");
  mkdirSync(state, { recursive: true });
  const disks = folderDisks(state);
  const real = ["--kubelet", "real", "--kubelet-path", environment.kubelet, "--images", environment.images];
  const tools = { clock: systemClock, log: silentLog };
  const { launchInNamespaces } = (await import(MACHINES)) as {
    readonly launchInNamespaces: (options: object) => MachineAgentOptions["launch"];
  };
  const launch = launchInNamespaces({
    disks,
    program: [process.execPath, "--max-semi-space-size=1", START, "machine", "--log-level", "warn", ...real],
    real: true,
    codeCache: join(dir, "code-cache"),
    ...tools,
  });
  const source = { machines: async () => machines };
  const running = runMachineAgent({ source, launch, disks, ...tools }, stopping.signal);
  const close = async (): Promise<void> => {
    stopping.abort(new Error("stopped"));
    await running;
  };
  try {
    await approveServing(of.kubeconfig, machines.length);
    await connectPods(of);
    await kubectl(of.kubeconfig, "wait", "nodes", "--all", "--for=condition=Ready", "--timeout=900s");
    return close;
  } catch (error) {
    await close();
    throw error;
  }
}

/** A bootstrap token, as `kubeadm token create` makes one. */
async function createToken({ kubeconfig, dir }: WorkersOf): Promise<string> {
  const [id, secret] = [randomBytes(3).toString("hex"), randomBytes(8).toString("hex")];
  const file = join(dir, "token.json");
  const token = {
    apiVersion: "v1",
    kind: "Secret",
    type: "bootstrap.kubernetes.io/token",
    metadata: { name: `bootstrap-token-${id}`, namespace: "kube-system" },
    stringData: {
      "token-id": id,
      "token-secret": secret,
      "usage-bootstrap-authentication": "true",
      "usage-bootstrap-signing": "true",
      "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
    },
  };
  writeFileSync(file, JSON.stringify(token), { mode: 0o600 });
  await kubectl(kubeconfig, "apply", "-f", file);
  return `${id}.${secret}`;
}

function machineOf({ endpoint, dns }: WorkersOf, token: string, { id, name, address }: Worker): BootedMachine {
  const path = "/run/kubeadm/join.yaml";
  const join = {
    apiVersion: "kubeadm.k8s.io/v1beta4",
    kind: "JoinConfiguration",
    discovery: { bootstrapToken: { token, apiServerEndpoint: endpoint, unsafeSkipCAVerification: true } },
    nodeRegistration: {
      name,
      kubeletExtraArgs: [
        { name: "node-ip", value: address },
        { name: "cluster-dns", value: dns },
      ],
    },
  };
  const boot = {
    write_files: [{ path, content: JSON.stringify(join) }],
    runcmd: [`kubeadm join --config ${path}`],
  };
  return {
    id,
    name,
    userData: `#cloud-config\n${JSON.stringify(boot)}\n`,
    addresses: [{ type: "InternalIP", address }],
    resources: { cpu: 2, memoryMiB: 4096, diskGiB: 20 },
  };
}

interface Csr {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly signerName: string };
  readonly status?: { readonly conditions?: readonly object[] };
}

/** No controller of Kubernetes approves kubelets' serving certificates: an administrator does. */
async function approveServing(kubeconfig: string, count: number): Promise<void> {
  const client = createClient(loadKubeconfig({ path: kubeconfig }));
  let approved = 0;
  try {
    await eventually(TIMEOUT, async () => {
      const { items } = (await client.request("GET", CSRS)) as { items: readonly Csr[] };
      const waiting = items.filter(
        ({ spec, status }) =>
          spec.signerName === "kubernetes.io/kubelet-serving" && (status?.conditions ?? []).length === 0,
      );
      for (const csr of waiting) {
        await approve(client, csr);
        approved += 1;
      }
      return approved >= count;
    });
  } finally {
    await client.close();
  }
}

async function approve(client: KubernetesClient, csr: Csr): Promise<void> {
  const condition = { type: "Approved", status: "True", reason: "Administrator", message: "a worker of the test" };
  const body = { ...csr, status: { ...csr.status, conditions: [condition] } };
  await client.request("PUT", `${CSRS}/${csr.metadata.name}/approval`, { body });
}

/** Routes to the pods of each machine, as a router of the network would have. */
async function connectPods({ kubeconfig, network, routes }: WorkersOf): Promise<void> {
  for (const { name, address } of network.workers) {
    const field = ["-o", "jsonpath={.spec.podCIDR}"];
    const cidr = await eventually(
      TIMEOUT,
      async () => (await kubectl(kubeconfig, "get", "node", name, ...field)) || undefined,
    );
    const route = ["route", "replace", cidr, "via", address];
    if (routes) ip(...route, "dev", network.name);
    for (const other of network.workers) if (other.name !== name) ip("-n", `vm-${other.id}`, ...route);
  }
}
