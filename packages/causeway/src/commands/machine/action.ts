import { createInterface } from "node:readline";
import { systemClock } from "@causeway/foundation";
import { fileIdentity, runImageMachine, runMachine, runRealMachine, type BootedMachine } from "@causeway/machine-agent";
import { imageFolder } from "../../composition/machines.ts";
import { commandLog } from "../../terminal/text-log.ts";
import type { MachineOptions } from "./command.ts";

/**
 * Plays one machine, whose configuration is the first line of standard input: what `machine-agent` starts inside a
 * namespace. It ends when the input does, so that no machine outlives the process that plays its cloud.
 */
export async function oneMachine(options: MachineOptions, signal: AbortSignal): Promise<void> {
  const lines = createInterface({ input: process.stdin });
  const alone = new AbortController();
  lines.once("close", () => alone.abort());
  const ending = AbortSignal.any([signal, alone.signal]);
  try {
    const line = await firstLine(lines, ending);
    if (line === undefined) return;
    const using = {
      identity: fileIdentity(options.disk),
      clock: systemClock,
      log: commandLog(options.logLevel),
    };
    const machine = JSON.parse(line) as BootedMachine;
    if (options.kubelet === "simulated") return await runMachine(machine, using, ending);
    const image = imageFolder(options, machine);
    if (image !== undefined) return await runImageMachine(machine, { ...using, ...options, image }, ending);
    const programs = { kubelet: options.kubeletPath, images: options.images, volumes: options.volumes };
    const podNetwork = options.podNetwork;
    await runRealMachine(machine, { ...using, disk: options.disk, programs, podNetwork }, ending);
  } finally {
    lines.close();
    process.stdin.destroy();
  }
}

function firstLine(lines: NodeJS.EventEmitter, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    lines.once("line", resolve);
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
