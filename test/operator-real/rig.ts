import { execFile, execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { loadKubeconfig } from "@causeway/kubernetes";
import { causeway, eventually, kubectl, root, type Started } from "../support/processes.ts";
import type { MachineFacts } from "./facts.ts";

/** Own ranges: other clusters may run on this host. */
const HOST = "10.211.0.1";
const ADDRESS = "10.211.0.2";
const NAMESPACE = "cw-openstack";
const LINK = "cwos0";
const NODE = "openstack-1";
const CGROUP = "/causeway-openstack/1";
export const PATIENCE = 30 * 60_000;

const execute = promisify(execFile);

/** A management cluster with one machine that runs real containers, and the operator. */
export interface Rig {
  readonly kubeconfig: string;
  readonly dir: string;
  /** kubectl on the cluster. */
  kubectl(...args: readonly string[]): string;
  apply(manifest: object): void;
  get<T>(...args: readonly string[]): T;
  /** Runs a program in the machine's network, where Services have their addresses. */
  inNetwork(file: string, ...args: readonly string[]): Promise<string>;
  /** Starts one that lives on. */
  startInNetwork(file: string, args: readonly string[]): ChildProcess;
  /** Runs a program in a container of a pod. */
  inContainer(pod: string, container: string, ...command: readonly string[]): Promise<string>;
  /** Takes the power from the machine: every process ends at once. */
  powerOff(): Promise<void>;
  powerOn(): Promise<void>;
  close(): Promise<void>;
}

export async function startRig(): Promise<Rig> {
  const dir = process.env["CAUSEWAY_OPERATOR_DIR"] ?? mkdtempSync(join(tmpdir(), "causeway-openstack-"));
  mkdirSync(dir, { recursive: true });
  const programs: Started[] = [];
  const start = (...args: string[]): Started => {
    const program = causeway(args);
    programs.push(program);
    return program;
  };
  makeNetwork();
  let machine: ChildProcess | undefined;
  const close = async () => {
    await endMachine(machine);
    for (const program of programs.toReversed()) await program.stop();
    removeNetwork();
    removeCgroup();
    if (process.env["CAUSEWAY_OPERATOR_DIR"] === undefined) rmSync(dir, { recursive: true, force: true });
  };
  try {
    const state = join(dir, "state");
    const server = start("apiserver", "--state", state, "--bind-address", HOST, "--controllers");
    await server.until(/Kubernetes API at/);
    const kubeconfig = join(state, "admin.kubeconfig");
    const ask = (...args: readonly string[]) => kubectl(kubeconfig, ...args);
    const apply = (manifest: object) => {
      const file = join(dir, "manifest.yaml");
      writeFileSync(file, JSON.stringify(manifest), { mode: 0o600 });
      ask("apply", "--server-side", "--force-conflicts", "-f", file);
    };
    const crds = causeway(["run", "openstack-operator", "--print-crds"]);
    await crds.ended;
    writeFileSync(join(dir, "crds.yaml"), crds.output());
    ask("apply", "--server-side", "-f", join(dir, "crds.yaml"));
    apply(node());
    const powerOn = async () => {
      machine = startMachine(dir, kubeconfig);
      await eventually(
        PATIENCE,
        () => ask("get", "node", NODE, "-o", "jsonpath={.status.conditions[?(@.type=='Ready')].status}") === "True",
      );
    };
    await powerOn();
    const operator = start("run", "openstack-operator", "--kubeconfig", kubeconfig);
    await operator.until(/leader|started|lead/i, PATIENCE).catch(() => {});
    return {
      kubeconfig,
      dir,
      kubectl: ask,
      apply,
      get: (...args) => JSON.parse(ask("get", ...args, "-o", "json")),
      async inNetwork(file, ...args) {
        const { stdout } = await execute("ip", ["netns", "exec", NAMESPACE, file, ...args], {
          maxBuffer: 64 * 1024 * 1024,
        });
        return stdout;
      },
      startInNetwork: (file, args) =>
        spawn("ip", ["netns", "exec", NAMESPACE, file, ...args], { stdio: ["pipe", "pipe", "inherit"] }),
      inContainer: (pod, container, ...command) => inContainer(dir, { pod, container }, command),
      async powerOff() {
        await endMachine(machine);
      },
      powerOn,
      close,
    };
  } catch (error) {
    const said = programs.map((program) => program.output().slice(-4000)).join("\n----\n");
    await close();
    throw new Error(`the rig did not come up:\n${said}`, { cause: error });
  }
}

function node(): object {
  const labels = { "kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux", role: "all" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: NODE, labels },
    spec: { podCIDR: "10.212.0.0/24", podCIDRs: ["10.212.0.0/24"] },
  };
}

/** A volume on the machine's disk for each claim that there may be. */
export function volumes(count: number): object {
  const items = Array.from({ length: count }, (_, index) => ({
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: `disk-${index}` },
    spec: {
      capacity: { storage: "50Gi" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      storageClassName: "local",
      local: { path: `/var/lib/claims/${index}` },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [NODE] }] },
          ],
        },
      },
    },
  }));
  const storageClass = {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "local" },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "WaitForFirstConsumer",
  };
  return { apiVersion: "v1", kind: "List", items: [storageClass, ...items] };
}

const ip = (...args: string[]) => execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });

function makeNetwork(): void {
  removeNetwork();
  ip("netns", "add", NAMESPACE);
  ip("link", "add", LINK, "type", "veth", "peer", "name", "eth0", "netns", NAMESPACE);
  ip("address", "add", `${HOST}/24`, "dev", LINK);
  ip("link", "set", LINK, "up");
  ip("-n", NAMESPACE, "address", "add", `${ADDRESS}/24`, "dev", "eth0");
  for (const link of ["lo", "eth0"]) ip("-n", NAMESPACE, "link", "set", link, "up");
  ip("-n", NAMESPACE, "route", "add", "default", "via", HOST);
  // kube-proxy and the bridge of pods forward.
  execFileSync("ip", ["netns", "exec", NAMESPACE, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1"]);
}

function removeNetwork(): void {
  spawnSync("ip", ["link", "delete", LINK], { stdio: "ignore" });
  spawnSync("ip", ["netns", "delete", NAMESPACE], { stdio: "ignore" });
}

function startMachine(dir: string, kubeconfig: string): ChildProcess {
  const disk = join(dir, "machine");
  for (let index = 0; index < 12; index++)
    mkdirSync(join(disk, "root/var/lib/claims", String(index)), { recursive: true });
  const { ca } = loadKubeconfig({ path: kubeconfig });
  const programs = needed("CAUSEWAY_NODE_PROGRAMS");
  const facts: MachineFacts = {
    name: NODE,
    address: ADDRESS,
    disk,
    cgroup: CGROUP,
    kubeconfig: readFileSync(kubeconfig, "utf8"),
    authority: ca ?? "",
    programs,
    images: [...pauseImage(join(programs, "images")), needed("CAUSEWAY_OPENSTACK_IMAGES")],
  };
  const own = ["--mount", "--propagation", "private", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const program = [process.execPath, join(import.meta.dirname, "machine.ts")];
  const args = [`--net=/run/netns/${NAMESPACE}`, "unshare", ...own, "tini", "--", ...program];
  const child = spawn("nsenter", args, { stdio: ["pipe", "inherit", "inherit"], cwd: root, detached: true });
  child.stdin.on("error", () => {});
  child.stdin.write(`${JSON.stringify(facts)}\n`);
  return child;
}

const pauseImage = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.includes("pause"))
    .map((name) => join(folder, name));

async function endMachine(machine: ChildProcess | undefined): Promise<void> {
  if (machine === undefined || machine.exitCode !== null || machine.signalCode !== null) return;
  const ended = new Promise((resolve) => machine.once("close", resolve));
  // Process 1 of the machine dies with unshare, and everything in it at once.
  machine.kill("SIGKILL");
  await ended;
}

function removeCgroup(): void {
  spawnSync("sh", ["-c", `find /sys/fs/cgroup/*${CGROUP} -depth -type d -exec rmdir {} + 2>/dev/null`]);
}

/** A container of a running pod, found by containerd's labels; the program runs in its namespaces. */
async function inContainer(
  dir: string,
  { pod, container }: { pod: string; container: string },
  args: readonly string[],
): Promise<string> {
  const init = machineProcess(dir);
  const ctr = ["-t", init, "-m", "-p", "ctr", "--address", "/run/containerd/containerd.sock", "-n", "k8s.io"];
  const filter = `labels."io.kubernetes.pod.name"==${pod},labels."io.kubernetes.container.name"==${container}`;
  const { stdout: containers } = await execute("nsenter", [...ctr, "containers", "list", "-q", filter]);
  const { stdout: tasks } = await execute("nsenter", [...ctr, "tasks", "list"]);
  const running = containers.split("\n").find((id) => id !== "" && new RegExp(`^${id} .*RUNNING`, "m").test(tasks));
  if (running === undefined) throw new Error(`no running container ${container} in ${pod}`);
  const { stdout } = await execute("nsenter", [
    ...ctr,
    "tasks",
    "exec",
    "--exec-id",
    `rig-${process.pid}-${Date.now()}`,
    running,
    ...args,
  ]);
  return stdout;
}

/** The machine's process 1, as the host numbers it. */
function machineProcess(dir: string): string {
  const disk = join(dir, "machine");
  if (!existsSync(disk)) throw new Error(`no machine in ${dir}`);
  const { stdout } = spawnSync("pgrep", ["-f", "-x", `tini -- .*${join(import.meta.dirname, "machine.ts")}`], {
    encoding: "utf8",
  });
  const [first = ""] = stdout.split("\n");
  if (first === "") throw new Error("the machine does not run");
  return first;
}

function needed(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run npm run test:operator -- --real`);
  return value;
}
