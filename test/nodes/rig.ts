import { execFile, spawnSync, type SpawnSyncReturns } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Cloud } from "@causeway/openstack";
import { inventory } from "../support/inventory.ts";
import { causeway, eventually, kubectl, startProgram, type Started } from "../support/processes.ts";
import { openProject } from "./project.ts";
import { startTunnel, TUNNEL_NETWORKS } from "./tunnel.ts";

const execute = promisify(execFile);
const TIMEOUT = 10 * 60_000;
const POD_CIDR = "10.244.0.0/16";
export const NAME = "real-nodes";
/** The MachineDeployment of its workers. */
export const WORKERS = `${NAME}-workers`;
/** Where tools/devcloud links the disks of its servers. */
const DISKS = "/run/devcloud";
const LARGEST_OUTPUT = 64 * 1024 * 1024;

/** A cluster on a real OpenStack whose workers run real containers. */
export interface Rig {
  /** The project of the cluster alone. */
  readonly cloud: Cloud;
  /** The kubeconfig of the workload cluster's administrator. */
  readonly kubeconfig: string;
  /** For files of the test; removed at the end. */
  readonly dir: string;
  /** kubectl on the workload cluster. */
  workload(...args: readonly string[]): string;
  /** The same with input, whatever the exit code. */
  kubectl(args: readonly string[], options?: { readonly input?: Buffer }): SpawnSyncReturns<Buffer>;
  /** The same, left running. */
  start(...args: readonly string[]): Started;
  apply(manifest: object): void;
  /** kubectl on the management cluster. */
  management(...args: readonly string[]): string;
  /** Applies a manifest to the management cluster. */
  manage(manifest: object): void;
  /** Waits until a Deployment has rolled out, while this process continues with other work. */
  rolledOut(deployment: string): Promise<void>;
  /** Runs a shell command in a Job; what it wrote to /dev/termination-log once the Job has succeeded. */
  run(command: string): Promise<string>;
  /** The project's resources before anything was made. */
  readonly before: readonly string[];
  deleteCluster(): void;
  close(): Promise<void>;
}

export interface RigOptions {
  readonly flavor?: string;
  /** Its workers. Default 2. */
  readonly replicas?: number;
  /** Pods reach pods of the other node by flannel's VXLAN, in place of routes on the cluster's router. */
  readonly overlay?: boolean;
  /** With metrics-server where the control plane is Kubernetes' own. Default false. */
  readonly withMetrics?: boolean;
  /** False: the cluster's volumes are served by a driver that the test starts. Default true. */
  readonly withVolumes?: boolean;
}

/**
 * Brings up the management system, machines with real kubelets and a cluster of two workers with kube-proxy, DNS,
 * routes to pods and a tunnel to kubelets.
 */
export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const dir = mkdtempSync(join(tmpdir(), "causeway-nodes-"));
  const project = await openProject(process.env["OS_CLOUD"] ?? "devcloud", join(dir, "clouds.yaml"));
  const { cloud, entry } = project;
  const env = { OS_CLIENT_CONFIG_FILE: project.clouds };
  const before = await inventory(cloud);
  const started: Started[] = [];
  const start = (...args: string[]): Started => {
    const program = causeway(args, { env });
    started.push(program);
    return program;
  };
  const management = join(dir, "state/management.kubeconfig");
  const kubeconfig = join(dir, "workload.kubeconfig");
  const workload = (...args: readonly string[]) => kubectl(kubeconfig, ...args);
  const applyTo = (target: string, manifest: object) => {
    const file = join(dir, "manifest.yaml");
    writeFileSync(file, JSON.stringify(manifest));
    kubectl(target, "apply", "-f", file);
  };
  const apply = (manifest: object) => applyTo(kubeconfig, manifest);
  const close = async () => {
    // After a failure the cluster is still there.
    if (existsSync(management))
      spawnSync("kubectl", ["--kubeconfig", management, "delete", "cluster", "--all", "--timeout=600s"]);
    for (const program of started.reverse()) await program.stop();
    await project.close();
    if (process.env["CAUSEWAY_NODES_KEEP"] === undefined) rmSync(dir, { recursive: true, force: true });
    else console.log(`kept: ${dir}`);
  };
  try {
    const real = ["--kubelet", "real", "--kubelet-path", needed("CAUSEWAY_NODE_KUBELET")];
    const images = ["--images", needed("CAUSEWAY_NODE_IMAGES")];
    const volumes = ["--volumes", DISKS];
    const network = options.overlay ? ["--pod-network", "addon"] : [];
    const folders = [...images, ...volumes];
    start("machine-agent", "--cloud", entry, "--state", join(dir, "machines"), ...real, ...network, ...folders);
    const sockets = join(dir, "tunnel");
    mkdirSync(sockets);
    const reach = ["--node-networks", TUNNEL_NETWORKS.join(","), "--tunnel-sockets", sockets];
    const programs = process.env["CAUSEWAY_NODES_PROGRAMS"];
    const runtime = programs === undefined ? [] : ["--runtime", "process", "--programs", programs];
    const own = options.withVolumes === false ? ["--no-volumes"] : [];
    const up = start("up", "--cloud", entry, "--state", join(dir, "state"), ...reach, ...runtime, ...own);
    await up.until(/management API/i);
    const at = ["--kubeconfig", management, "--namespace", "default"];
    const version = ["--kubernetes-version", needed("CAUSEWAY_NODE_VERSION")];
    // Causeway's own API server has the metrics itself.
    const metrics = options.withMetrics && programs !== undefined ? ",metrics-server" : "";
    const addons = `kube-proxy,coredns${options.overlay ? ",flannel" : ""}${metrics}`;
    const flavor = options.flavor === undefined ? [] : ["--flavor", options.flavor];
    const size = [
      "--replicas",
      `${options.replicas ?? 2}`,
      ...flavor,
      ...version,
      "--addons",
      addons,
      "--timeout",
      "3600",
    ];
    const create = start("create", "cluster", NAME, ...at, "--cloud", entry, ...size);
    if ((await create.ended) !== 0) throw new Error(`create cluster: ${create.output()}`);
    const printed = start("kubeconfig", "cluster", NAME, ...at);
    await printed.ended;
    writeFileSync(kubeconfig, printed.output(), { mode: 0o600 });
    applyTo(management, await startTunnel({ dir, sockets, kubeconfig, cluster: NAME, start }));
    await openNodePorts(cloud);
    if (!options.overlay) {
      const conf = await cloudConf(project, dir);
      const manager = ["run", "cloud-controller-manager", "--cloud-config", conf, "--kubeconfig", kubeconfig];
      const only = ["--controllers", "node-route-controller", "--leader-elect=false", "--secure-port", "0"];
      start(...manager, ...only, "--cluster-cidr", POD_CIDR);
    }
    // Until a node's route or tunnel is there its pods reach no pod of another node, not even DNS.
    workload("wait", "nodes", "--all", "--for=condition=NetworkUnavailable=false", "--timeout=3600s");
    let jobs = 0;
    return {
      cloud,
      kubeconfig,
      dir,
      before,
      workload,
      apply,
      management: (...args) => kubectl(management, ...args),
      manage: (manifest) => applyTo(management, manifest),
      kubectl: (args, how) =>
        spawnSync("kubectl", ["--kubeconfig", kubeconfig, ...args], { maxBuffer: LARGEST_OUTPUT, ...how }),
      start: (...args) => startProgram("kubectl", ["--kubeconfig", kubeconfig, ...args]),
      async rolledOut(deployment) {
        const wait = ["rollout", "status", `deployment/${deployment}`, "--timeout=600s"];
        await execute("kubectl", ["--kubeconfig", kubeconfig, ...wait]);
      },
      run: (command) => runJob(workload, apply, { name: `ask-${(jobs += 1)}`, command }),
      deleteCluster: () => void kubectl(management, "delete", "cluster", NAME, "--timeout=900s"),
      close,
    };
  } catch (error) {
    const said = started.map((program) => program.output().slice(-4000)).join("\n----\n");
    await close();
    throw new Error(`the rig did not come up:\n${said}`, { cause: error });
  }
}

/** Octavia's OVN provider keeps clients' addresses: who may use node ports is for the owner of the cluster to say. */
async function openNodePorts({ network }: Cloud): Promise<void> {
  const open = { direction: "ingress", ethertype: "IPv4", protocol: "tcp", remote_ip_prefix: "0.0.0.0/0" } as const;
  const range = { port_range_min: 30000, port_range_max: 32767 };
  // A busy Neutron may need minutes: what it made meanwhile is found.
  await eventually(TIMEOUT, async () => {
    const groups = await network.securityGroups.all({});
    const workers = groups.find((group) => group.name.endsWith(`${NAME}-secgroup-worker`));
    // Rules of the cluster's own let its network and its groups in.
    const isOpen = workers?.security_group_rules.some(
      (rule) =>
        rule.port_range_min === range.port_range_min &&
        rule.remote_group_id === null &&
        (rule.remote_ip_prefix ?? open.remote_ip_prefix) === open.remote_ip_prefix,
    );
    if (isOpen !== true)
      await network.securityGroupRules.create({ security_group_id: workers?.id ?? "", ...open, ...range });
    return true;
  });
}

/** The file of the controller that keeps routes to pods on the cluster's router; its path. */
async function cloudConf(
  { cloud, clouds, entry }: { readonly cloud: Cloud; readonly clouds: string; readonly entry: string },
  dir: string,
): Promise<string> {
  const routers = await cloud.network.routers.all({});
  const router = routers.find(({ name }) => name?.includes(NAME));
  if (router === undefined) throw new Error(`no router of ${NAME} among ${routers.map((r) => r.name).join(", ")}`);
  const text = `[Global]\nuse-clouds=true\nclouds-file=${clouds}\ncloud=${entry}\n[Route]\nrouter-id=${router.id}\n`;
  const file = join(dir, "cloud.conf");
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

function needed(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run npm run test:nodes`);
  return value;
}

export const IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.53";

async function runJob(
  workload: Rig["workload"],
  apply: Rig["apply"],
  { name, command }: { readonly name: string; readonly command: string },
): Promise<string> {
  const container = { name: "ask", image: IMAGE, command: ["/bin/sh", "-c", command] };
  const template = { spec: { restartPolicy: "Never", containers: [container] } };
  apply({ apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec: { backoffLimit: 0, template } });
  return eventually(TIMEOUT, () => {
    const { items } = JSON.parse(workload("get", "pods", "-l", `job-name=${name}`, "-o", "json")) as PodList;
    const ended = items[0]?.status.containerStatuses?.[0]?.state.terminated;
    return ended === undefined ? undefined : (ended.message ?? `no message; exit code ${ended.exitCode}`);
  });
}

interface PodList {
  readonly items: readonly {
    readonly status: {
      readonly containerStatuses?: readonly {
        readonly state: { readonly terminated?: { readonly exitCode: number; readonly message?: string } };
      }[];
    };
  }[];
}
