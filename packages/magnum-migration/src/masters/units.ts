import { hasCode } from "@causeway/foundation";
import type { Inventory, Machine } from "../inventory/model.ts";
import type { Tools } from "../run/phase.ts";

/** The control plane's programs, in the order in which they are stopped. */
export const controlPlaneUnits = ["kube-controller-manager", "kube-scheduler", "kube-apiserver"] as const;

export const machinesOf = ({ masters, groups }: Inventory): readonly Machine[] => [
  ...masters,
  ...groups.flatMap(({ machines }) => machines),
];

type Reach = Pick<Tools, "shell">;

export async function isUnitActive(
  { shell }: Reach,
  address: string,
  unit: string,
  signal: AbortSignal,
): Promise<boolean> {
  const script = `systemctl is-active ${unit} || true`;
  return (await shell.run(address, ["sh", "-c", script], signal)).trim() === "active";
}

export async function stopUnits(
  { shell }: Reach,
  address: string,
  units: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  await shell.run(address, ["systemctl", "stop", ...units], signal);
}

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
