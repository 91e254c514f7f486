import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { CausewayError, type Clock, type Log } from "@causeway/foundation";
import {
  cgroupOf,
  fileIdentity,
  removeCgroup,
  runMachine,
  type BootedMachine,
  type MachineSource,
} from "@causeway/machine-agent";
import type { Cloud, Flavor, Server } from "@causeway/openstack";
import type { Simulator } from "@causeway/simulator";

/** The machines of the simulated cloud, seen as a hypervisor sees them: without a request to its API. */
export function simulatedMachines(simulator: Simulator): MachineSource {
  return { machines: async () => simulator.machines() };
}

/** Machines of a real cloud that have user data, which only an administrator's account is shown. */
export function cloudMachines(admin: Cloud, projectId: string): MachineSource {
  const flavors = new Map<string, Flavor>();
  return {
    async machines(signal) {
      const servers = await admin.compute.servers.all({ all_tenants: true, project_id: projectId }, { signal });
      if (servers.length > 0 && flavors.size === 0) {
        for (const flavor of await admin.compute.flavors.all({}, { signal })) flavors.set(flavor.name, flavor);
      }
      return servers.flatMap((server) => machineOf(server, flavors) ?? []);
    },
  };
}

function machineOf(server: Server, flavors: ReadonlyMap<string, Flavor>): BootedMachine | undefined {
  const userData = server["OS-EXT-SRV-ATTR:user_data"];
  if (userData === undefined || userData === null || userData === "") return undefined;
  const { vcpus = 1, ram = 512, disk = 1 } = flavors.get(server.flavor.original_name ?? "") ?? server.flavor;
  return {
    id: server.id,
    name: server.name,
    running: server.status === "ACTIVE",
    zone: server["OS-EXT-AZ:availability_zone"] ?? "",
    ...(typeof server.image === "object" && server.image !== null ? { image: server.image.id } : {}),
    userData: Buffer.from(userData, "base64").toString("utf8"),
    addresses: Object.values(server.addresses)
      .flat()
      .map((a) => ({
        type: a["OS-EXT-IPS:type"] === "floating" ? ("ExternalIP" as const) : ("InternalIP" as const),
        address: a.addr,
      })),
    resources: { cpu: vcpus, memoryMiB: ram, diskGiB: disk },
  };
}

/** The folder with what the image of a machine holds, if there is one. */
export function imageFolder(
  { kubelet, machineImages }: { readonly kubelet: string; readonly machineImages?: string | undefined },
  { image }: BootedMachine,
): string | undefined {
  if (kubelet !== "real" || machineImages === undefined || image === undefined) return undefined;
  const folder = resolve(machineImages, image);
  return existsSync(folder) ? folder : undefined;
}

type Launch = (machine: BootedMachine, signal: AbortSignal) => Promise<void>;

/** What every machine is run with. */
export interface LaunchOptions {
  /** Where machines keep their disks. */
  readonly disks: { path(id: string): string };
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs machines in this process. */
export function launchHere({ disks, clock, log }: LaunchOptions): Launch {
  return (machine, signal) =>
    runMachine(machine, { identity: fileIdentity(disks.path(machine.id)), clock, log }, signal);
}

/** What machines need that run as processes of their own, in network namespaces. */
export interface NamespaceOptions extends LaunchOptions {
  /** How this program is started for one machine. */
  readonly program: readonly string[];
  /**
   * Where children keep compiled code for one another: it takes a third of their start and a fifth of their memory
   * away.
   */
  readonly codeCache: string;
  /** Machines run real containers: each has namespaces of its own for mounts, processes and its host name, too. */
  readonly real?: boolean;
}

/** How often to search for a namespace, and after how long without one to say so, in milliseconds. */
const namespacePause = 250;
const namespacePatience = 30_000;

/** Runs each machine as a child inside its network namespace vm-ID, with its configuration on standard input. */
export function launchInNamespaces(options: NamespaceOptions): Launch {
  return async (machine, signal) => {
    const namespace = `vm-${machine.id}`;
    if (!(await awaitNamespace({ machine: machine.name, namespace }, options, signal))) return;
    const [file = process.execPath, ...args] = options.program;
    const disk = options.disks.path(machine.id);
    const [enter, ...how] = options.real === true ? realMachine(namespace) : ["ip", "netns", "exec", namespace];
    const input = `${JSON.stringify(machine)}\n`;
    const env = { ...process.env, NODE_COMPILE_CACHE: options.codeCache };
    try {
      await runChild(enter ?? "ip", [...how, file, ...args, "--disk", disk], { input, env, signal });
    } finally {
      if (options.real === true) await removeCgroup(cgroupOf(machine));
    }
  };
}

/**
 * Into the server's network namespace, keeping the host's /sys (whose cgroups containers need), with the machine's own
 * mounts, processes and host name. Process 1 ends when its program does, and everything in the machine with it.
 */
function realMachine(namespace: string): string[] {
  const own = ["--mount", "--propagation", "private", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"];
  return ["nsenter", `--net=/run/netns/${namespace}`, "unshare", ...own, "tini", "--"];
}

/** A server is ACTIVE a moment before its hypervisor shows it here. False when the signal aborted first. */
async function awaitNamespace(
  { machine, namespace }: { machine: string; namespace: string },
  { clock, log }: LaunchOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const since = clock.now();
  for (let said = false; !signal.aborted;) {
    if (existsSync(`/run/netns/${namespace}`)) return true;
    if (!said && clock.now() - since >= namespacePatience) {
      said = true;
      const hint = "run the machine agent as root on the host whose servers are network namespaces";
      log.warn("the machine has no network namespace on this host", { machine, namespace, hint });
    }
    await clock.sleep(namespacePause, signal).catch(() => {});
  }
  return false;
}

/**
 * The child lives as long as its standard input is open, so that it ends with this process however that ends. It has a
 * process group of its own: a Ctrl-C at the terminal reaches it through us.
 */
function runChild(
  file: string,
  args: readonly string[],
  options: { input: string; env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ["pipe", "inherit", "inherit"], detached: true, env: options.env });
    const stop = () => {
      child.kill("SIGTERM");
      // unshare(1) leaves signals to its child, which is not ours: the end of its input ends it.
      child.stdin.end();
    };
    options.signal.addEventListener("abort", stop, { once: true });
    if (options.signal.aborted) stop();
    child.on("error", reject);
    child.on("close", (code) => {
      options.signal.removeEventListener("abort", stop);
      if (code === 0 || options.signal.aborted) resolve();
      else
        reject(
          new CausewayError("MACHINE_ENDED", `the machine's process ended with code ${code}`, {
            hint: "The machine's log lines above have the reason.",
          }),
        );
    });
    child.stdin.on("error", () => {});
    child.stdin.write(options.input);
  });
}
