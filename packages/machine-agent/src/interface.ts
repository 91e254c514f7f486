import type { Clock, Log } from "@causeway/foundation";

/** A machine as its cloud shows it, whatever the cloud. */
export interface BootedMachine {
  /** The server's UUID. */
  readonly id: string;
  readonly name: string;
  /** cloud-init user data, decoded. */
  readonly userData: string;
  readonly addresses: readonly { readonly type: "InternalIP" | "ExternalIP"; readonly address: string }[];
  readonly resources: { readonly cpu: number; readonly memoryMiB: number; readonly diskGiB: number };
  /** The server's availability zone. */
  readonly zone?: string;
  /** The UUID of the image that it boots from. */
  readonly image?: string;
  /** False: it is there and switched off (or rebooting); its disk remains. Default true. */
  readonly running?: boolean;
}

/** Where machines come from. `machines` is the whole truth each time it is called. */
export interface MachineSource {
  /** Machines that exist now. */
  machines(signal: AbortSignal): Promise<readonly BootedMachine[]>;
}

/** Where machines keep their disks, by machine id. */
export interface MachineDisks {
  ids(): Promise<readonly string[]>;
  /** Nothing to remove is success. */
  remove(id: string): Promise<void>;
}

/** Where machines come from, where their disks are, and what they run. */
export interface MachineAgentOptions {
  readonly source: MachineSource;
  /** Runs one machine until the signal aborts: in this process, or as a child inside its network namespace. */
  readonly launch: (machine: BootedMachine, signal: AbortSignal) => Promise<void>;
  /** True for a machine whose image has the programs of its user data: it boots whatever that says. */
  readonly hasImage?: (machine: BootedMachine) => boolean;
  /** Disks of machines that are no more are removed from here. */
  readonly disks?: MachineDisks;
  /** Milliseconds between two rounds. Default 1000. */
  readonly interval?: number;
  readonly clock?: Clock;
  readonly log?: Log;
}
