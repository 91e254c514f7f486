import { execFile, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { loadKubeconfig } from "@causeway/kubernetes";
import { root, startProgram, type Started } from "../support/processes.ts";
import { execInContainer } from "./container-exec.ts";
import type { MachineFacts } from "./facts.ts";
import type { Place } from "./network.ts";

const execute = promisify(execFile);
const CTR = ["ctr", "--address", "/run/containerd/containerd.sock", "-n", "k8s.io"];

/** A container that runs; its process as the machine numbers it. */
export interface RunningContainer {
  readonly id: string;
  readonly pid: number;
}

interface MachineOptions {
  readonly kubeconfig: string;
  /** Places for claims. */
  readonly disks: number;
  /** Folders of archives of images, in addition to those that all machines have. */
  readonly images: readonly string[];
}

/** A machine of the rig: machine.ts in namespaces of its own. */
export class Machine {
  readonly place: Place;
  /** The folder that is its disk; it outlives the power. */
  readonly disk: string;
  readonly #options: MachineOptions;
  #child: ChildProcess | undefined;

  constructor(place: Place, disk: string, options: MachineOptions) {
    this.place = place;
    this.disk = disk;
    this.#options = options;
    for (let index = 0; index < options.disks; index++)
      mkdirSync(join(disk, "root/var/lib/claims", String(index)), { recursive: true });
  }

  powerOn(): void {
    if (this.#isOn()) return;
    const { name, address, cgroup, namespace } = this.place;
    const programs = needed("CAUSEWAY_NODE_PROGRAMS");
    const { kubeconfig, images } = this.#options;
    const facts: MachineFacts = {
      name,
      address,
      disk: this.disk,
      cgroup,
      kubeconfig: readFileSync(kubeconfig, "utf8"),
      authority: loadKubeconfig({ path: kubeconfig }).ca ?? "",
      programs,
      images: [needed("CAUSEWAY_NODE_IMAGES"), needed("CAUSEWAY_OPENSTACK_IMAGES"), ...images],
    };
    const own = ["--mount", "--propagation", "private", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"];
    const program = [process.execPath, join(import.meta.dirname, "machine.ts")];
    const args = [`--net=/run/netns/${namespace}`, "unshare", ...own, "tini", "--", ...program];
    const child = spawn("nsenter", args, { stdio: ["pipe", "inherit", "inherit"], cwd: root, detached: true });
    child.stdin.on("error", () => {});
    child.stdin.write(`${JSON.stringify(facts)}\n`);
    this.#child = child;
  }

  /** Process 1 of the machine dies with unshare, and everything in it at once. */
  async powerOff(): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.#isOn()) return;
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGKILL");
    await ended;
  }

  #isOn(): boolean {
    const child = this.#child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** The running container of a pod. */
  async container(pod: string, container: string): Promise<RunningContainer | undefined> {
    const filter = `labels."io.kubernetes.pod.name"==${pod},labels."io.kubernetes.container.name"==${container}`;
    const containers = await this.#ctr("containers", "list", "-q", filter);
    const tasks = await this.#ctr("tasks", "list");
    for (const id of containers.split("\n").filter((each) => each !== "")) {
      const [, pid] = new RegExp(`^${id} +(\\d+) +RUNNING`, "m").exec(tasks) ?? [];
      if (pid !== undefined) return { id, pid: Number(pid) };
    }
    return undefined;
  }

  /** Runs a program in a container; what it printed. */
  execute(id: string, command: readonly string[]): Promise<string> {
    return execInContainer(["nsenter", ...this.#inside(), ...CTR], id, command);
  }

  /**
   * Starts a program with the files and the network of a container, outside its processes: it lives on when the
   * container ends.
   */
  startBeside({ pid }: RunningContainer, command: readonly string[]): ChildProcess {
    const inside = ["-t", String(pid), "-m", "-n", ...command];
    return spawn("nsenter", [...this.#inside(), "nsenter", ...inside], { stdio: ["pipe", "pipe", "inherit"] });
  }

  /** Runs a program in the same way until it ends; what it printed. */
  async runBeside({ pid }: RunningContainer, command: readonly string[], input?: string): Promise<string> {
    const inside = ["-t", String(pid), "-m", "-n", ...command];
    const running = execute("nsenter", [...this.#inside(), "nsenter", ...inside], { maxBuffer: 64 * 1024 * 1024 });
    running.child.stdin?.end(input ?? "");
    return (await running).stdout;
  }

  /**
   * Starts a program on the machine itself, outside its containers: with its mounts, those to come among them, and its
   * network, and so that it looks up names of the cluster. It is a process of the host, and has to be stopped.
   */
  start(...command: readonly string[]): Started {
    const own = 'mount --bind "/etc/netns/$0/resolv.conf" /etc/resolv.conf && mount -t proc proc /proc && exec "$@"';
    const mounts = ["unshare", "--mount", "--propagation", "slave", "sh", "-c", own, this.place.namespace];
    const [, init = ""] = this.#inside();
    return startProgram("nsenter", ["-t", init, "-m", "-n", ...mounts, ...command]);
  }

  /** Runs a program on the machine itself until it ends. */
  async run(...command: readonly string[]): Promise<void> {
    await execute("nsenter", [...this.#inside(), "-n", ...command]);
  }

  /** Processes of a container, as the machine numbers them. */
  async processes(id: string): Promise<number[]> {
    const [, ...lines] = (await this.#ctr("tasks", "ps", id)).split("\n");
    return lines.map((line) => Number.parseInt(line, 10)).filter((pid) => pid > 0);
  }

  /** Sends a signal to these processes of the machine by one command. The program of a probe may have ended before. */
  async signal(name: "KILL" | "STOP" | "CONT", pids: readonly number[]): Promise<void> {
    const each = 'got=1; for pid; do kill -s "$0" "$pid" 2> /dev/null && got=0; done; exit "$got"';
    await execute("nsenter", [...this.#inside(), "sh", "-c", each, name, ...pids.map(String)]);
  }

  async #ctr(...args: readonly string[]): Promise<string> {
    const ctr = [...this.#inside(), ...CTR, ...args];
    const { stdout } = await execute("nsenter", ctr, { maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  }

  #inside(): string[] {
    // The child is unshare, by way of nsenter; its own one is process 1 of the machine.
    const { stdout } = spawnSync("pgrep", ["-P", String(this.#child?.pid ?? 0)], { encoding: "utf8" });
    const [init = ""] = stdout.split("\n");
    if (init === "" || !this.#isOn()) throw new Error(`${this.place.name} does not run`);
    return ["-t", init, "-m", "-p"];
  }
}

function needed(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run npm run test:operator -- --real`);
  return value;
}
