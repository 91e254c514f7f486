import type { Clock } from "@causeway/foundation";
import type { OutcomeRule } from "./kernel/settings.ts";

/** What one request was, in the order they arrived. */
export interface CallRecord {
  readonly sequence: number;
  readonly at: number;
  readonly method: string;
  readonly service: string;
  /** Below the service's root, with query. */
  readonly path: string;
  readonly projectId: string | undefined;
  readonly userAgent: string;
  status: number;
}

/**
 * What to do to a request. "before": never reaches the service; "after": done, then the response is lost or replaced.
 */
export type Fault =
  | { readonly when: "before" | "after"; readonly cut: true }
  | {
      readonly when: "before" | "after";
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    };

/** Where state is, which clock and delays it has, and what it serves. */
export interface SimulatorOptions {
  /** State folder; undefined keeps all in memory. */
  readonly dir?: string;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Permits a host beyond loopback, as in a container: all who reach it have all rights, and nothing is encrypted. */
  readonly insecure?: boolean;
  /** Default: any free port, kept over restarts in `dir`. */
  readonly port?: number;
  readonly clock?: Clock;
  /** IDs of what is created. Default: random UUIDs. */
  readonly newId?: () => string;
  /** "instant": no provisioning delay. "real": the delays measured on the real services. */
  readonly profile?: "instant" | "real";
  /** Delays in milliseconds that replace the profile's, by operation. */
  readonly delays?: Readonly<Record<string, number>>;
  /** Of Neutron, in addition to those that are always there. */
  readonly extensions?: readonly ("extraroute-atomic" | "subnet-dns-publish-fixed-ip")[];
  /** Serves the listeners of load balancers on loopback: see the README. Default: no packets go through them. */
  readonly dataPath?: boolean;
  /**
   * Serves the Magnum of an older cloud, whose clusters Heat made: for migrations away from it. Default: no Magnum is
   * in the catalog.
   */
  readonly heatMagnum?: boolean;
}

/** Where an address of a listener is on this machine. */
export interface DataPathListener {
  readonly loadBalancer: string;
  readonly listener: string;
  readonly protocol: string;
  readonly address: string;
  readonly port: number;
  /** "127.1.2.3:80"; null: not served. */
  readonly at: string | null;
  /** Why it is not served. */
  readonly problem: string | null;
  readonly connections: number;
}

/** The load balancers' listeners as they are served on loopback. */
export interface SimulatorDataPath {
  listeners(): Promise<readonly DataPathListener[]>;
  /**
   * Replaces the table of members: "ADDRESS:PORT" or "ADDRESS" of the cloud to an address of loopback, with a port or
   * without.
   */
  setMembers(members: Readonly<Record<string, string>>): void;
  /**
   * Replaces the table of clients: an address of loopback to the address of the cloud that its connections come from.
   */
  setClients(clients: Readonly<Record<string, string>>): void;
}

/** A server with a disk, for the program that simulates its operating system. */
export interface RunningMachine {
  readonly id: string;
  readonly name: string;
  /** False while it is switched off, rebooting or being changed. */
  readonly running: boolean;
  /** Decoded; "" when it was given none. */
  readonly userData: string;
  /** Files of its config drive by path ("openstack/latest/meta_data.json"); undefined: it has none. */
  readonly configDrive: Readonly<Record<string, string>> | undefined;
  readonly addresses: readonly { readonly type: "InternalIP" | "ExternalIP"; readonly address: string }[];
  readonly resources: { readonly cpu: number; readonly memoryMiB: number; readonly diskGiB: number };
}

/** A running simulated cloud. */
export interface Simulator {
  /** http://127.0.0.1:PORT/identity/v3 */
  readonly authUrl: string;
  /**
   * A clouds.yaml with entries simulator (project demo), simulator-admin, simulator-alt, simulator-reader, named and
   * seeded as devcloud's: flavors m1.tiny…m1.large, images cirros and fedora-coreos, network public 172.24.4.0/24,
   * region RegionOne.
   */
  readonly cloudsYaml: string;
  readonly calls: readonly CallRecord[];
  /** Called for each request (after authentication); the first fault it gives is done. Undefined: none. */
  setFaults(decide: ((call: CallRecord) => Fault | undefined) | undefined): void;
  setQuota(project: string, resource: string, limit: number): void;
  /**
   * How provisioning ends from now on ("server.create" of a name or flavor → "error" or "stuck"); replaces earlier
   * orders.
   */
  setOutcomes(rules: readonly OutcomeRule[]): void;
  /** Milliseconds that an operation takes from now on; "request" and "request.SERVICE" delay responses. */
  setDelay(operation: string, milliseconds: number): void;
  /** Every resource of a project as "type id name", sorted: to compare before and after. */
  inventory(project?: string): readonly string[];
  /**
   * The content that represents the bytes of a volume or share, and is copied by snapshots, clones and backups.
   * Undefined: it is not there.
   */
  content(id: string): string | undefined;
  /**
   * As a server writes to its disk, or a client to a share. False: the server does not have the volume, or the share is
   * gone.
   */
  write(id: string, write: { readonly content: string; readonly serverId?: string }): boolean;
  /**
   * Remembers what is in the cloud under a name (in memory, 32 at most), and gives how to put that back: for a suite
   * whose tests each begin with the same cloud. Tokens remain valid while their user and project are there. What was
   * under way continues from there.
   */
  snapshot(name: string): () => void;
  /** Puts the cloud's clock forward: tokens expire, what was under way ends. */
  advance(milliseconds: number): void;
  /** The servers that have booted, as their hypervisor sees them; reading them is no request to the cloud. */
  machines(): readonly RunningMachine[];
  /** Undefined without the option. */
  readonly dataPath: SimulatorDataPath | undefined;
  close(): Promise<void>;
}

/** Starts a cloud; `startSimulator` is one. */
export type StartSimulator = (options?: SimulatorOptions) => Promise<Simulator>;
