import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { CausewayError, type Clock, type Log } from "@causeway/foundation";
import { fileIdentity, runMachine, type BootedMachine, type MachineSource } from "@causeway/machine-agent";
import type { Cloud, Flavor, Server } from "@causeway/openstack";
import type { Simulator } from "@causeway/simulator";

/** The machines of the simulated cloud, seen as a hypervisor sees them: without asking its API. */
export function simulatedMachines(simulator: Simulator): MachineSource {
  return { machines: async () => simulator.machines() };
}

/** Machines of a real cloud that are ACTIVE and have user data, which only an administrator's account is shown. */
export function cloudMachines(admin: Cloud, projectId: string): MachineSource {
  const flavors = new Map<string, Flavor>();
  return {
    async machines(signal) {
      const servers = await admin.compute.servers.all({ all_tenants: true, project_id: projectId }, { signal });
      if (servers.length > 0 && flavors.size === 0) {
        for (const flavor of await admin.compute.flavors.all({}, { signal })) flavors.set(flavor.name, flavor);
      }
      return servers.filter((s) => s.status === "ACTIVE").flatMap((server) => machineOf(server, flavors) ?? []);
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

export interface LaunchOptions {
  /** Where machines keep their disks. */
  readonly dir: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs machines in this process. A machine that its cloud deleted leaves no disk behind. */
export function launchHere(
  options: LaunchOptions,
  stopping: AbortSignal,
): (machine: BootedMachine, signal: AbortSignal) => Promise<void> {
  return async (machine, signal) => {
    const disk = `${options.dir}/${machine.id}`;
    await runMachine(machine, { identity: fileIdentity(disk), clock: options.clock, log: options.log }, signal);
    if (!stopping.aborted) await rm(disk, { recursive: true, force: true });
  };
}

/** Runs each machine as a child inside its network namespace vm-ID, told everything on standard input. */
export function launchInNamespaces(
  options: LaunchOptions & { readonly program: readonly string[] },
  stopping: AbortSignal,
): (machine: BootedMachine, signal: AbortSignal) => Promise<void> {
  return async (machine, signal) => {
    const namespace = `vm-${machine.id}`;
    if (!existsSync(`/run/netns/${namespace}`)) {
      throw new CausewayError(
        "MACHINE_WITHOUT_NAMESPACE",
        `server ${machine.name} has no network namespace ${namespace} on this host`,
        {
          hint: "Run the machine agent as root on the host whose servers are network namespaces, such as a devcloud.",
        },
      );
    }
    const disk = `${options.dir}/${machine.id}`;
    const [file = process.execPath, ...args] = options.program;
    await runChild("ip", ["netns", "exec", namespace, file, ...args, "--disk", disk], {
      input: JSON.stringify(machine),
      signal,
    });
    if (!stopping.aborted) await rm(disk, { recursive: true, force: true });
  };
}

function runChild(
  file: string,
  args: readonly string[],
  options: { input: string; signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ["pipe", "inherit", "inherit"] });
    const stop = () => child.kill("SIGTERM");
    options.signal.addEventListener("abort", stop, { once: true });
    child.on("error", reject);
    child.on("close", (code) => {
      options.signal.removeEventListener("abort", stop);
      if (code === 0 || options.signal.aborted) resolve();
      else
        reject(
          new CausewayError("MACHINE_ENDED", `the machine's process ended with code ${code}`, {
            hint: "See its lines above.",
          }),
        );
    });
    child.stdin.on("error", () => {});
    child.stdin.end(options.input);
  });
}
