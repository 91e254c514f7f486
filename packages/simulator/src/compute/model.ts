import type { Hono } from "hono";
import type { Ask } from "../kernel/ask.ts";
import type { Caller, Kernel, Service, Table } from "../kernel/interface.ts";
import { htmlPage } from "../kernel/html-page.ts";
import type { NetworkLinks } from "../kernel/links.ts";
import { ServiceError } from "../kernel/service-error.ts";
import type { VolumeLinks } from "../kernel/volume-links.ts";
import type { Image } from "../image/model.ts";
import type { InjectedFile } from "./rules/create-request.ts";

/** A flavor: `ram` and `swap` in MiB, `disk` and `ephemeral` in GiB. */
export interface Flavor {
  readonly id: string;
  readonly name: string;
  readonly ram: number;
  readonly disk: number;
  readonly vcpus: number;
  readonly extra_specs: Readonly<Record<string, string>>;
  readonly description: string | null;
  /** What follows may be missing in a state that an older version wrote. */
  readonly ephemeral?: number;
  readonly swap?: number;
  readonly rxtx_factor?: number;
  readonly is_public?: boolean;
  /** Projects that a flavor which is not public is for. */
  readonly projects?: readonly string[];
}

/** Nova's `vm_state`, from which `statusOf` derives the status that clients see. */
export type VmState =
  | "building"
  | "active"
  | "paused"
  | "suspended"
  | "stopped"
  | "rescued"
  | "resized"
  | "shelved_offloaded"
  | "error"
  | "deleted";

/** A volume on a server; `device` is the path in the guest, "/dev/vdb". */
export interface ServerVolume {
  readonly volume_id: string;
  readonly attachment_id: string;
  readonly bdm_uuid: string;
  readonly device: string;
  readonly delete_on_termination: boolean;
  readonly tag?: string;
}

/** What was requested of one interface, in the order of the request. */
export interface RequestedNetwork {
  /** Set at once when the port was given, else when Nova has made it. */
  readonly port_id?: string;
  readonly network_id?: string;
  readonly fixed_ip?: string;
}

/** What `os-instance-actions` lists: a request that changed the server. */
export interface InstanceAction {
  readonly action: string;
  readonly request_id: string;
  readonly user_id: string;
  readonly start_time: string;
  readonly updated_at: string;
  readonly message: string | null;
}

/** A server as it is kept. Addresses are not: they are read from the network service's ports. */
export interface Server {
  readonly id: string;
  readonly name: string;
  readonly project_id: string;
  readonly user_id: string;
  readonly flavor: Flavor;
  /** "" when booted from a volume. */
  readonly image_id: string;
  readonly vm_state: VmState;
  readonly task_state: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  readonly key_name: string | null;
  readonly user_data: string | null;
  /** What was injected; undefined: nothing. */
  readonly files?: readonly InjectedFile[];
  readonly config_drive: boolean;
  readonly description: string | null;
  readonly zone: string;
  readonly group_id: string | null;
  readonly created: string;
  readonly updated: string;
  readonly launched_at: string | null;
  readonly terminated_at: string | null;
  readonly fault: { readonly code: number; readonly created: string; readonly message: string } | null;
  readonly locked: boolean;
  readonly locked_reason: string | null;
  /** Each has its port once the network is set up. */
  readonly requested: readonly RequestedNetwork[];
  readonly security_groups: readonly string[];
  /** Addresses are returned only once the network is set up. */
  readonly networked: boolean;
  /** Ports that Nova made, and so deletes. */
  readonly own_ports: readonly string[];
  readonly volumes: readonly ServerVolume[];
  readonly number: number;
  readonly reservation_id: string;
  readonly hostname: string;
  readonly actions: readonly InstanceAction[];
  /** While a resize waits to be confirmed or reverted: what the server was. */
  readonly before?: { readonly flavor: Flavor; readonly vm_state: VmState; readonly migration: string } | null;
  /** What was said of how to reach it, and of its disk ("AUTO" or "MANUAL"). */
  readonly access_v4?: string;
  readonly access_v6?: string;
  readonly disk_config?: string;
  /** The flavor that a running resize leads to. */
  readonly next_flavor?: Flavor | null;
}

/** A move of a server to another host or size, as administrators list them. */
export interface Migration {
  readonly id: string;
  readonly number: number;
  readonly server_id: string;
  readonly project_id: string;
  readonly user_id: string;
  readonly type: "resize" | "migration";
  readonly status: string;
  readonly old_flavor: string;
  readonly new_flavor: string;
  readonly zone: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A group of hosts with a name, and perhaps a zone. */
export interface Aggregate {
  readonly id: string;
  readonly uuid: string;
  readonly name: string;
  readonly hosts: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly created_at: string;
  readonly updated_at: string | null;
}

/** What an administrator ordered of a compute host's service. */
export interface HostState {
  readonly id: string;
  readonly disabled: boolean;
  readonly reason: string | null;
  readonly forced_down: boolean;
}

/** A server group; `policy` is "affinity", "anti-affinity" or one of their soft variants. */
export interface ServerGroup {
  readonly id: string;
  readonly name: string;
  readonly policy: string;
  readonly rules: Readonly<Record<string, number>>;
  readonly members: readonly string[];
  readonly project_id: string;
  readonly user_id: string;
}

/** A key pair of a user. The private key is returned once, by the create, and is not kept. */
export interface Keypair {
  /** user id "/" name */
  readonly id: string;
  readonly number: number;
  readonly name: string;
  readonly user_id: string;
  readonly type: string;
  readonly public_key: string;
  readonly fingerprint: string;
  readonly created_at: string;
}

/** All of Nova's state. `images` is Glance's own table, since Nova reads and makes images. */
export interface ComputeTables {
  readonly servers: Table<Server>;
  /** Kept for changes-since, a while. */
  readonly deleted: Table<Server>;
  readonly flavors: Table<Flavor>;
  readonly groups: Table<ServerGroup>;
  readonly keypairs: Table<Keypair>;
  readonly images: Table<Image>;
  readonly migrations: Table<Migration>;
  readonly aggregates: Table<Aggregate>;
  readonly hosts: Table<HostState>;
}

/** What Nova's routes work with: its state, and the other services as it calls them. */
export interface ComputeParts {
  readonly kernel: Kernel;
  readonly tables: ComputeTables;
  readonly network: NetworkLinks;
  readonly volumes: VolumeLinks;
  readonly ask: Ask;
}

/** What the middleware sets for every route; `minor` is 79 of microversion 2.79. */
type ComputeVariables = { caller: Caller; minor: number; requestId: string };
/** The Hono environment of Nova's routes. */
export type ComputeEnv = { Variables: ComputeVariables };
/** Where Nova's routes are added. */
export type ComputeApp = Hono<ComputeEnv>;
/** The routes' app as a service's: it sets more variables than others do. */
export const asServiceApp = (app: ComputeApp): Service["app"] => app as unknown as Service["app"];

/** The availability zones, and the one compute host of each. */
export const zones: Readonly<Record<string, string>> = { nova: "compute-1", az2: "compute-2" };

/** Nova's tables. Names that begin with "_" are internal: the inventory does not list their rows. */
export const computeTables = (kernel: Kernel): ComputeTables => ({
  servers: kernel.table("server", ["project_id", "name"]),
  deleted: kernel.table("_deleted_server", ["project_id"]),
  flavors: kernel.table("_flavor", ["name"]),
  groups: kernel.table("server_group", ["project_id"]),
  keypairs: kernel.table("keypair", ["user_id"]),
  images: kernel.table("image", ["name"]),
  migrations: kernel.table("_migration", ["server_id"]),
  aggregates: kernel.table("_aggregate", ["name"]),
  hosts: kernel.table("_compute_host"),
});

const faultNames: Readonly<Record<number, string>> = {
  400: "badRequest",
  403: "forbidden",
  404: "itemNotFound",
  409: "conflictingRequest",
  413: "overLimit",
  501: "notImplemented",
};

/** An error with Nova's (and Cinder's) body. */
export function computeError(code: number, message: string, more: object = {}): ServiceError {
  return new ServiceError(code, { [faultNames[code] ?? "computeFault"]: { code, message, ...more } });
}

/** Nova's 404, also for a server of another project. */
export const serverNotFound = (id: string): ServiceError => computeError(404, `Instance ${id} could not be found.`);

/** Nova's 403 for a rule of its policy: "os_compute_api:os-hypervisors:list". */
export const denied = (rule: string): ServiceError =>
  computeError(403, `Policy doesn't allow ${rule} to be performed.`);

/** Admits only administrators: `rule` of os_compute_api forbids it to all other users. */
export function requireAdmin({ isAdmin }: Caller, rule: string): void {
  if (!isAdmin) throw denied(`os_compute_api:${rule}`);
}

/** The server, if the caller may see it; else 404. */
export function serverFor(tables: ComputeTables, caller: Caller, id: string): Server {
  const server = tables.servers.get(id);
  if (!server || (server.project_id !== caller.projectId && !caller.isAdmin)) throw serverNotFound(id);
  return server;
}

/**
 * Ids of a server's ports as it was created with them: Nova returns its addresses in this order, those of later ports
 * last.
 */
export const requestedPorts = ({ requested }: Server): readonly string[] =>
  requested.flatMap(({ port_id: id }) => id ?? []);

/** The response for a resource that the requested version does not support. */
export const notInThisVersion = (): ServiceError => computeError(404, "The resource could not be found.");

/** The page that the web framework of the real services gives where there is no such route. */
export const notFoundPage = (explanation = "The resource could not be found."): ServiceError =>
  htmlPage(404, { explanation });
