import { execFile, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { causeway, eventually, kubectl, root, startProgram, type Started } from "../support/processes.ts";
import { Machine } from "./machines.ts";
import { allowWatchers, HOST, makeNetwork, placeOf, removeNetwork, RIG_CGROUP, type Place } from "./network.ts";

export const TIMEOUT = 45 * 60_000;
/** Disks for claims that each machine has. */
export const DISKS = 16;
/** The group of all machines, which one of them has made. */
const SHARED = `/sys/fs/cgroup/cpu/${RIG_CGROUP}/cgroup.procs`;
const CAUSEWAY = join(root, "packages/causeway/src/start.js");

const execute = promisify(execFile);

/** A management cluster with machines that run real containers, and the operator. */
export interface Rig {
  readonly kubeconfig: string;
  readonly dir: string;
  /** The first one runs the control plane of the cloud, the others have the role Compute alone. */
  readonly machines: readonly Machine[];
  /** kubectl on the cluster. */
  kubectl(...args: readonly string[]): string;
  apply(manifest: object): void;
  get<T>(...args: readonly string[]): T;
  /** Runs a program in the first machine's network, where Services have their addresses. */
  inNetwork(file: string, ...args: readonly string[]): Promise<string>;
  /** Starts `causeway ARGS…` there. */
  startCauseway(args: readonly string[], env?: Readonly<Record<string, string>>): Started;
  /** Starts one that lives on, with the machines' share of the processors: a client that is late is no load. */
  startInNetwork(file: string, args: readonly string[]): ChildProcess;
  /** Runs a program in a container of a pod. */
  inContainer(pod: string, container: string, ...command: readonly string[]): Promise<string>;
  /** Takes the power from all machines: every process ends at once. */
  powerOff(): Promise<void>;
  powerOn(): Promise<void>;
  /** Ends the operator at once, wherever it is, and starts another one. */
  killOperator(): Promise<void>;
  close(): Promise<void>;
}

export interface RigOptions {
  readonly machines?: number;
  /** Folders of archives of images, in addition to those that all rigs have. */
  readonly images?: readonly string[];
}

/**
 * Starts it; a folder of `CAUSEWAY_OPERATOR_DIR` is kept after the end, with logs and disks. Another rig of the same
 * run has one next to it.
 */
export async function startRig({ machines: count = 1, images = [] }: RigOptions = {}): Promise<Rig> {
  const kept = process.env["CAUSEWAY_OPERATOR_DIR"];
  const isFirst = kept !== undefined && !existsSync(join(kept, "state"));
  const dir = isFirst ? kept : mkdtempSync(kept === undefined ? join(tmpdir(), "causeway-openstack-") : `${kept}-`);
  mkdirSync(dir, { recursive: true });
  const places = Array.from({ length: count }, (_, index) => placeOf(index + 1));
  const programs: Started[] = [];
  const start = (...args: string[]): Started => {
    const program = causeway(args);
    programs.push(program);
    return program;
  };
  allowWatchers();
  makeNetwork(places);
  const machines: Machine[] = [];
  const close = async () => {
    await Promise.all(machines.map((machine) => machine.powerOff()));
    for (const program of programs.toReversed()) await program.stop();
    removeNetwork();
    for (const { cgroup } of places)
      spawnSync("sh", ["-c", `find /sys/fs/cgroup/*${cgroup} -depth -type d -exec rmdir {} + 2>/dev/null`]);
    // Some hundred thousand files of layers: a program of its own is faster by minutes.
    if (kept === undefined) await execute("rm", ["-rf", dir]);
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
    const isReady = ({ name }: Place) =>
      ask("get", "node", name, "-o", "jsonpath={.status.conditions[?(@.type=='Ready')].status}") === "True";
    const powerOn = async () => {
      for (const machine of machines) machine.powerOn();
      await eventually(TIMEOUT, () => places.every(isReady));
    };
    for (const place of places) {
      apply(node(place));
      machines.push(new Machine(place, join(dir, place.name), { kubeconfig, disks: DISKS, images }));
    }
    await powerOn();
    const inFirst = (file: string, args: readonly string[]) => ["netns", "exec", places[0]!.namespace, file, ...args];
    // It asks Nova by the names of the cluster.
    const operator = ["run", "openstack-operator", "--kubeconfig", kubeconfig];
    const startCauseway = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
      startProgram("ip", inFirst(process.execPath, [CAUSEWAY, ...args]), { env });
    const startOperator = () => startCauseway(operator);
    programs.push(startOperator());
    return {
      kubeconfig,
      dir,
      machines,
      kubectl: ask,
      apply,
      get: (...args) => JSON.parse(ask("get", ...args, "-o", "json")),
      async inNetwork(file, ...args) {
        const { stdout } = await execute("ip", inFirst(file, args), { maxBuffer: 64 * 1024 * 1024 });
        return stdout;
      },
      startCauseway,
      startInNetwork(file, args) {
        const command = ["-c", 'echo $$ > "$0" && exec "$@"', SHARED, "ip", ...inFirst(file, args)];
        return spawn("sh", command, { stdio: ["pipe", "pipe", "inherit"] });
      },
      async inContainer(pod, container, ...command) {
        for (const machine of machines) {
          const found = await machine.container(pod, container);
          if (found !== undefined) return machine.execute(found.id, command);
        }
        throw new Error(`no running container ${container} in ${pod}`);
      },
      async powerOff() {
        await Promise.all(machines.map((machine) => machine.powerOff()));
      },
      powerOn,
      async killOperator() {
        await programs.pop()?.stop("SIGKILL");
        programs.push(startOperator());
      },
      close,
    };
  } catch (error) {
    const said = programs.map((program) => program.output().slice(-4000)).join("\n----\n");
    await close();
    throw new Error(`the rig did not come up:\n${said}`, { cause: error });
  }
}

function node({ name, number, pods }: Place): object {
  const role = number === 1 ? "all" : "compute";
  const labels = { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", role };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels },
    spec: { podCIDR: pods, podCIDRs: [pods] },
  };
}

/** A volume on the first machine's disk for each claim that there may be. */
export function volumes(): object {
  const node = placeOf(1).name;
  const items = Array.from({ length: DISKS }, (_, index) => ({
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
            { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }] },
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

/** Folders of the logs of pods, on all machines. */
export const logFolders = (rig: Rig): string[] =>
  rig.machines.flatMap(({ disk }) => {
    const folder = join(disk, "root/var/log/pods");
    return readdirSync(folder).map((name) => join(folder, name));
  });
