import type { Inventory } from "../inventory/model.ts";
import { caKeyOf } from "./ca-key.ts";
import { knownMasterFiles, type MasterFiles } from "./pki.ts";
import type { MachineShell } from "./shell.ts";

/**
 * The keys and certificates that the hosted control plane takes over, of the first master and of --ca-key. `caKey` is
 * undefined where neither has it.
 * @throws MIGRATE_KEY_MISSING, MIGRATE_KEY_MISMATCH
 */
export async function readRoots(
  tools: { readonly shell: MachineShell; readonly caKey?: string },
  { masters }: Pick<Inventory, "masters">,
  signal: AbortSignal,
): Promise<Omit<MasterFiles, "caKey"> & { readonly caKey: string | undefined }> {
  const found = await knownMasterFiles(tools, masters[0]?.address ?? "", signal);
  return { ...found, caKey: caKeyOf(tools.caKey, found) };
}
