import { hasCode } from "@causeway/foundation";
import type { Inventory, Machine } from "../inventory/model.ts";
import type { MachineShell } from "./shell.ts";

/** The control plane's programs, in the order in which they are stopped. */
export const controlPlaneUnits = ["kube-controller-manager", "kube-scheduler", "kube-apiserver"] as const;

/** All machines of the cluster, masters first. */
export const machinesOf = ({ masters, groups }: Inventory): readonly Machine[] => [
  ...masters,
  ...groups.flatMap(({ machines }) => machines),
];

interface Reach {
  readonly shell: MachineShell;
}

/** Machines of which as many are read at the same time. */
const TOGETHER = 8;

/** The units that are active on one machine, of those that were read. */
export interface UnitsOf extends Pick<Machine, "name" | "address"> {
  readonly active: readonly string[];
}

/** Which of the units run on each machine: one command for each. */
export async function readUnits(
  reach: Reach,
  machines: readonly Machine[],
  units: readonly string[],
  signal: AbortSignal,
): Promise<readonly UnitsOf[]> {
  const found: UnitsOf[] = [];
  for (let at = 0; at < machines.length; at += TOGETHER)
    found.push(
      ...(await Promise.all(
        machines.slice(at, at + TOGETHER).map(async ({ name, address }) => ({
          name,
          address,
          active: await activeUnits(reach, address, units, signal),
        })),
      )),
    );
  return found;
}

async function activeUnits(
  { shell }: Reach,
  address: string,
  units: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const script = `systemctl is-active ${units.join(" ")} || true`;
  const lines = (await shell.run(address, ["sh", "-c", script], signal)).split("\n");
  return units.filter((_, index) => lines[index]?.trim() === "active");
}

/** Stops units of systemd on one machine, by SSH. A unit that does not run is no error. */
export async function stopUnits(
  { shell }: Reach,
  address: string,
  units: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  await shell.run(address, ["systemctl", "stop", ...units], signal);
}

/** Starts units of systemd on one machine, by SSH. */
export async function startUnits(
  { shell }: Reach,
  address: string,
  units: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  await shell.run(address, ["systemctl", "start", ...units], signal);
}

/** Undefined: there is no such file. */
export async function readFileOf(
  { shell }: Reach,
  address: string,
  path: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await shell.run(address, ["cat", path], signal);
  } catch (error) {
    if (hasCode(error, "MIGRATE_SHELL_FAILED") && String(error).includes("No such file")) return undefined;
    throw error;
  }
}
