import { CausewayError, messageOf, silentLog, systemClock, type Clock, type Log } from "@causeway/foundation";
import type { BootedMachine, MachineAgentOptions, MachineDisks } from "./interface.ts";
import { readBoot, readJoin } from "./join.ts";

interface RunningMachine {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

type Options = MachineAgentOptions & { readonly clock: Clock; readonly log: Log };

/** The shortest and the longest pause before a machine that ended is launched again, in milliseconds. */
const shortest = 1_000;
const longest = 30_000;

/**
 * Plays every machine of a source: one that appears is launched, one that disappears is stopped and its disk removed,
 * until the signal aborts. A machine whose user data joins no cluster is not a machine of ours and costs nothing.
 * A source that fails to answer changes nothing: machines continue running while their cloud is away.
 */
export async function runMachineAgent(options: MachineAgentOptions, signal: AbortSignal): Promise<void> {
  const { source, interval = 1000, clock = systemClock, log = silentLog } = options;
  const machines = new Machines({ ...options, clock, log }, signal);
  while (!signal.aborted) {
    try {
      machines.settle(await source.machines(signal));
    } catch (error) {
      if (!signal.aborted) log.warn("the cloud did not list its machines", { error: messageOf(error) });
    }
    await clock.sleep(interval, signal).catch(() => {});
  }
  await machines.ended();
}

/** What runs here, and what does not and why. */
class Machines {
  readonly #options: Options;
  readonly #signal: AbortSignal;
  readonly #running = new Map<string, RunningMachine>();
  /** Machines whose user data joins no cluster. */
  readonly #others = new Set<string>();
  /** Machines that ended by themselves: how long to wait, and until when. */
  readonly #resting = new Map<string, { readonly pause: number; readonly until: number }>();
  readonly #removing = new Set<Promise<void>>();
  /** The list that was settled last; undefined: the next is settled, whatever it is. */
  #settled: readonly BootedMachine[] | undefined;
  #known: ReadonlySet<string> | undefined;

  constructor(options: Options, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /**
   * Makes what runs here what the source says. The list of the last time costs nothing, unless a machine has ended
   * since or is to be launched again.
   */
  settle(machines: readonly BootedMachine[]): void {
    if (machines === this.#settled && this.#resting.size === 0) return;
    this.#settled = machines;
    const present = new Map(machines.map((machine) => [machine.id, machine]));
    for (const machine of machines) if (this.#isToStart(machine)) this.#start(machine);
    for (const [id, { stop }] of this.#running) {
      const machine = present.get(id);
      if (machine === undefined || machine.running === false) stop.abort();
    }
    for (const id of [...this.#others, ...this.#resting.keys()]) {
      if (present.has(id)) continue;
      this.#others.delete(id);
      this.#resting.delete(id);
    }
    this.#clear(present);
  }

  async ended(): Promise<void> {
    await Promise.all([...this.#running.values()].map((machine) => machine.ended));
    await Promise.all(this.#removing);
  }

  #isToStart(machine: BootedMachine): boolean {
    const { id, name } = machine;
    if (machine.running === false || this.#running.has(id) || this.#others.has(id)) return false;
    if (this.#options.clock.now() < (this.#resting.get(id)?.until ?? 0)) return false;
    try {
      if (this.#options.hasImage?.(machine) === true) readBoot(machine);
      else readJoin(machine);
      return true;
    } catch (error) {
      if (!(error instanceof CausewayError)) throw error;
      this.#others.add(id);
      this.#options.log.info("a machine joins no cluster and is left alone", { machine: name, why: error.message });
      return false;
    }
  }

  #start(machine: BootedMachine): void {
    const { launch, log } = this.#options;
    const stop = new AbortController();
    const ended = launch(machine, AbortSignal.any([this.#signal, stop.signal]))
      .catch((error: unknown) => {
        if (!stop.signal.aborted) log.warn("the machine ended", { machine: machine.name, error: messageOf(error) });
      })
      .finally(() => {
        this.#running.delete(machine.id);
        this.#settled = undefined;
        if (!stop.signal.aborted) this.#rest(machine.id);
      });
    this.#running.set(machine.id, { stop, ended });
  }

  #rest(id: string): void {
    const before = this.#resting.get(id)?.pause;
    const pause = before === undefined ? shortest : Math.min(before * 2, longest);
    this.#resting.set(id, { pause, until: this.#options.clock.now() + pause });
  }

  /** Removes the disks of machines that went away, and at the start those of machines that went away unseen. */
  #clear(present: ReadonlyMap<string, unknown>): void {
    const { disks } = this.#options;
    const known = this.#known;
    this.#known = new Set(present.keys());
    if (!disks) return;
    const removing = this.#remove(disks, async () => {
      const ids = known ? [...known] : await disks.ids();
      return ids.filter((id) => !present.has(id));
    }).finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
  }

  async #remove(disks: MachineDisks, gone: () => Promise<string[]>): Promise<void> {
    try {
      for (const id of await gone()) {
        await this.#running.get(id)?.ended;
        await disks.remove(id);
      }
    } catch (error) {
      this.#options.log.warn("a machine's disk could not be removed", { error: messageOf(error) });
    }
  }
}
