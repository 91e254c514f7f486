import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isServed, messageOf, type Clock, type Log } from "@causeway/foundation";
import type { BootedMachine } from "../interface.ts";
import { command } from "./host.ts";
import { METADATA_ADDRESS, serveMetadata } from "./metadata.ts";
import { paths } from "./settings.ts";

const POLL = 100;

/** Without metadata a machine has pods, but no volumes. */
export async function giveMetadata(machine: BootedMachine, log: Log, signal: AbortSignal): Promise<void> {
  try {
    await command("ip", ["address", "replace", `${METADATA_ADDRESS}/32`, "dev", "lo"], signal);
    await serveMetadata(machine, {}, signal);
  } catch (error) {
    if (!signal.aborted) log.warn("the machine has no metadata", { error: messageOf(error) });
  }
}

/** Waits until something listens at a socket; false when the signal aborted first. */
export async function isUp(socket: string, clock: Clock, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    if (await isServed(socket)) return true;
    await clock.sleep(POLL, signal).catch(() => {});
  }
  return false;
}

/** Imports the archives of a folder; one that is damaged is left out, and said. */
export async function importImages(
  folder: string | undefined,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<void> {
  if (folder === undefined) return;
  for (const file of (await readdir(folder)).filter((name) => name.endsWith(".tar")).sort()) {
    const args = ["--address", paths.containerdSocket, "--namespace", "k8s.io", "images", "import", "--no-unpack"];
    try {
      await command("ctr", [...args, join(folder, file)], signal);
    } catch (error) {
      if (!signal.aborted) log.warn("an archive of images could not be imported", { file, error: messageOf(error) });
    }
  }
}
