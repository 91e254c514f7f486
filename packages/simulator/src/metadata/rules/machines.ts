import type { RunningMachine } from "../../interface.ts";
import type { Kernel } from "../../kernel/interface.ts";
import type { OwnedKernel } from "../../kernel/kernel.ts";
import type { NetworkLinks } from "../../kernel/links.ts";
import { configDrive, userData } from "./documents.ts";
import { computeTables, requestedPorts, type Server } from "../../compute/model.ts";

/**
 * The machines now: the same list while nothing in the cloud has changed. Who plays machines reads it ten times a
 * second.
 */
export function machinesOf(kernel: OwnedKernel, network: NetworkLinks): () => readonly RunningMachine[] {
  let known: { readonly changes: number; readonly machines: readonly RunningMachine[] } | undefined;
  // A thousand machines have megabytes of it, and something changes all the time while they boot.
  const decoded = new WeakMap<Server, string>();
  const userDataOf = (server: Server): string => {
    const before = decoded.get(server);
    if (before !== undefined) return before;
    const text = userData(server) ?? "";
    decoded.set(server, text);
    return text;
  };
  return () => {
    const changes = kernel.changes();
    if (known?.changes !== changes) known = { changes, machines: runningMachines(kernel, { network, userDataOf }) };
    return known.machines;
  };
}

/** The servers that have a disk, as their hypervisor sees them: user data and all, without a request. */
function runningMachines(
  kernel: Kernel,
  { network, userDataOf }: { readonly network: NetworkLinks; readonly userDataOf: (server: Server) => string },
): RunningMachine[] {
  const tables = computeTables(kernel);
  const booted = tables.servers.all().filter((s) => s.vm_state === "active" || s.vm_state === "stopped");
  return booted.map((server) => ({
    id: server.id,
    name: server.name,
    running: server.vm_state === "active" && server.task_state === null,
    userData: userDataOf(server),
    configDrive: configDrive({ tables, network }, server),
    addresses: network
      .serverAddresses(server.id, requestedPorts(server))
      .map(({ addr, kind }) => ({ type: kind === "floating" ? "ExternalIP" : "InternalIP", address: addr })),
    resources: { cpu: server.flavor.vcpus, memoryMiB: server.flavor.ram, diskGiB: server.flavor.disk },
  }));
}
