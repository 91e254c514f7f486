import { messageOf, silentLog, systemClock } from "@causeway/foundation";
import type { BootedMachine, MachineAgentOptions } from "./interface.ts";

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/**
 * Plays every machine of a source: one that appears is launched, one that disappears is stopped, until the signal aborts.
 * A source that fails to answer changes nothing: machines go on running while their cloud is away.
 */
export async function runMachineAgent(options: MachineAgentOptions, signal: AbortSignal): Promise<void> {
  const { source, launch, interval = 1000, clock = systemClock, log = silentLog } = options;
  const running = new Map<string, Running>();
  const start = (machine: BootedMachine) => {
    const stop = new AbortController();
    const ended = launch(machine, AbortSignal.any([signal, stop.signal]))
      .catch((error: unknown) => log.warn("the machine ended", { machine: machine.name, error: messageOf(error) }))
      .finally(() => running.delete(machine.id));
    running.set(machine.id, { stop, ended });
  };
  while (!signal.aborted) {
    try {
      const machines = await source.machines(signal);
      const present = new Set(machines.map((m) => m.id));
      for (const machine of machines) if (!running.has(machine.id)) start(machine);
      for (const [id, machine] of running) if (!present.has(id)) machine.stop.abort();
    } catch (error) {
      if (!signal.aborted) log.warn("the cloud did not list its machines", { error: messageOf(error) });
    }
    await clock.sleep(interval, signal).catch(() => {});
  }
  await Promise.all([...running.values()].map((machine) => machine.ended));
}
