import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { inventory } from "../support/inventory.ts";
import { causeway, eventually, kubectl, type Started } from "../support/processes.ts";

const execute = promisify(execFile);
const PATIENCE = 10 * 60_000;
const POD_CIDR = "10.244.0.0/16";
const NAME = "real-nodes";

/** A cluster on a real OpenStack whose workers run real containers. */
export interface Rig {
  readonly cloud: Cloud;
  /** kubectl on the workload cluster. */
  workload(...args: readonly string[]): string;
  apply(manifest: object): void;
  /** Waits until a Deployment has rolled out, while this process goes on with other work. */
  rolledOut(deployment: string): Promise<void>;
  /** Runs a shell command in a Job; what it wrote to /dev/termination-log once the Job has succeeded. */
  run(command: string): Promise<string>;
  /** The project's resources before anything was made. */
  readonly before: readonly string[];
  deleteCluster(): void;
  close(): Promise<void>;
}

/** Brings up the management system, machines with real kubelets and a cluster of two workers with kube-proxy, DNS and routes to pods. */
export async function startRig(): Promise<Rig> {
  const dir = mkdtempSync(join(tmpdir(), "causeway-nodes-"));
  const cloudName = process.env["OS_CLOUD"] ?? "devcloud";
  const cloud = connectCloud(loadCloudsYaml({ cloud: cloudName }));
  const before = await inventory(cloud);
  const started: Started[] = [];
  const start = (...args: string[]): Started => {
    const program = causeway(args);
    started.push(program);
    return program;
  };
  const management = join(dir, "state/management.kubeconfig");
  const kubeconfig = join(dir, "workload.kubeconfig");
  const workload = (...args: readonly string[]) => kubectl(kubeconfig, ...args);
  const apply = (text: string) => {
    const file = join(dir, "manifest.yaml");
    writeFileSync(file, text);
    workload("apply", "-f", file);
  };
  const close = async () => {
    // After a failure the cluster is still there.
    if (existsSync(management))
      spawnSync("kubectl", ["--kubeconfig", management, "delete", "cluster", "--all", "--timeout=600s"]);
    for (const program of started.reverse()) await program.stop();
    await cloud.close();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const real = ["--kubelet", "real", "--kubelet-path", needed("CAUSEWAY_NODE_KUBELET")];
    const images = ["--images", needed("CAUSEWAY_NODE_IMAGES")];
    start("machine-agent", "--cloud", cloudName, "--state", join(dir, "machines"), ...real, ...images);
    const up = start("up", "--cloud", cloudName, "--state", join(dir, "state"));
    await up.until(/management API/i);
    const at = ["--kubeconfig", management, "--namespace", "default"];
    const version = ["--kubernetes-version", needed("CAUSEWAY_NODE_VERSION")];
    const size = ["--replicas", "2", ...version, "--addons", "kube-proxy,coredns"];
    const create = start("create", "cluster", NAME, ...at, "--cloud", cloudName, ...size);
    if ((await create.ended) !== 0) throw new Error(`create cluster: ${create.output()}`);
    const printed = start("kubeconfig", "cluster", NAME, ...at);
    await printed.ended;
    writeFileSync(kubeconfig, printed.output(), { mode: 0o600 });
    const routers = await cloud.network.routers.all({});
    const router = routers.find(({ name }) => name?.includes(NAME));
    if (router === undefined) throw new Error(`no router of ${NAME} among ${routers.map((r) => r.name).join(", ")}`);
    // Octavia's OVN provider keeps clients' addresses: who may use node ports is for the owner of the cluster to say.
    const groups = await cloud.network.securityGroups.all({});
    const workers = groups.find((group) => group.name.endsWith(`${NAME}-secgroup-worker`));
    const open = { direction: "ingress", ethertype: "IPv4", protocol: "tcp", remote_ip_prefix: "0.0.0.0/0" } as const;
    const range = { port_range_min: 30000, port_range_max: 32767 };
    await cloud.network.securityGroupRules.create({ security_group_id: workers?.id ?? "", ...open, ...range });
    const conf = join(dir, "cloud.conf");
    const clouds = process.env["OS_CLIENT_CONFIG_FILE"] ?? "";
    writeFileSync(
      conf,
      `[Global]\nuse-clouds=true\nclouds-file=${clouds}\ncloud=${cloudName}\n[Route]\nrouter-id=${router.id}\n`,
      { mode: 0o600 },
    );
    const manager = ["run", "cloud-controller-manager", "--cloud-config", conf, "--kubeconfig", kubeconfig];
    const only = ["--controllers", "node-route-controller", "--leader-elect=false", "--secure-port", "0"];
    start(...manager, ...only, "--cluster-cidr", POD_CIDR);
    let jobs = 0;
    return {
      cloud,
      before,
      workload,
      apply: (manifest) => apply(JSON.stringify(manifest)),
      async rolledOut(deployment) {
        const wait = ["rollout", "status", `deployment/${deployment}`, "--timeout=600s"];
        await execute("kubectl", ["--kubeconfig", kubeconfig, ...wait]);
      },
      run: (command) => runJob(workload, (text) => apply(text), { name: `ask-${(jobs += 1)}`, command }),
      deleteCluster: () => void kubectl(management, "delete", "cluster", NAME, "--timeout=900s"),
      close,
    };
  } catch (error) {
    const said = started.map((program) => program.output().slice(-4000)).join("\n----\n");
    await close();
    throw new Error(`the rig did not come up:\n${said}`, { cause: error });
  }
}

function needed(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run npm run test:nodes`);
  return value;
}

export const IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.53";

async function runJob(
  workload: Rig["workload"],
  apply: (text: string) => void,
  { name, command }: { readonly name: string; readonly command: string },
): Promise<string> {
  const container = { name: "ask", image: IMAGE, command: ["/bin/sh", "-c", command] };
  const template = { spec: { restartPolicy: "Never", containers: [container] } };
  apply(
    JSON.stringify({ apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec: { backoffLimit: 0, template } }),
  );
  return eventually(PATIENCE, () => {
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
