/** More of Nova, wire-true: https://docs.openstack.org/api-ref/compute/ */
import type { CallOptions, Collection, ReadOnlyCollection } from "./collection.ts";
import type { Flavor, Keypair, Server } from "./compute.ts";

/** What a keypair is created with; without a public key Nova makes one. */
export interface KeypairCreate {
  name: string;
  /** OpenSSH's form. Since 2.92 Nova makes no keys itself. */
  public_key: string;
  type?: "ssh" | "x509";
}
/** Sizes: MiB of memory, GiB of disks. */
export interface FlavorCreate {
  name: string;
  vcpus: number;
  ram: number;
  disk: number;
  id?: string;
  "OS-FLV-EXT-DATA:ephemeral"?: number;
  swap?: number;
  "os-flavor-access:is_public"?: boolean;
  description?: string;
}
/** A port of a server. */
export interface InterfaceAttachment {
  port_id: string;
  net_id: string;
  mac_addr: string;
  port_state: string;
  fixed_ips: { subnet_id: string; ip_address: string }[];
  tag?: string;
}
/** A volume of a server, and the device that it has there. */
export interface VolumeAttachment {
  /** Before 2.89; the volume's id. */
  id?: string;
  volumeId: string;
  serverId: string;
  device: string | null;
  tag?: string | null;
  delete_on_termination?: boolean;
  attachment_id?: string;
}
/** An action that a server has been through. */
export interface InstanceAction {
  action: string;
  request_id: string;
  start_time: string;
  message: string | null;
  user_id: string;
}
/** The hypervisor of a host. */
export interface Hypervisor {
  id: string;
  hypervisor_hostname: string;
  state: "up" | "down";
  status: "enabled" | "disabled";
}
/** A host of Nova, and its zone. */
export interface ComputeHost {
  id: string;
  binary: string;
  host: string;
  zone: string;
  state: "up" | "down";
  status: "enabled" | "disabled";
  disabled_reason?: string | null;
  forced_down?: boolean;
}
/** What an administrator changes of a host's service (microversion 2.53 and later). */
export type ComputeHostChange =
  | { readonly status: "enabled" }
  | { readonly status: "disabled"; readonly disabled_reason: string }
  | { readonly forced_down: boolean };
/** Hosts with the same metadata. */
export interface HostAggregate {
  id: number;
  name: string;
  availability_zone: string | null;
  hosts: string[];
  metadata: Record<string, string>;
}
/** -1: no limit. */
export type ComputeQuota = Record<string, number>;

/** Orders to servers. Each is accepted (202) and done later; the server's state shows when. */
export interface ServerActions {
  start(id: string, options?: CallOptions): Promise<void>;
  stop(id: string, options?: CallOptions): Promise<void>;
  reboot(id: string, type?: "SOFT" | "HARD", options?: CallOptions): Promise<void>;
  pause(id: string, options?: CallOptions): Promise<void>;
  unpause(id: string, options?: CallOptions): Promise<void>;
  suspend(id: string, options?: CallOptions): Promise<void>;
  resume(id: string, options?: CallOptions): Promise<void>;
  lock(id: string, reason?: string, options?: CallOptions): Promise<void>;
  unlock(id: string, options?: CallOptions): Promise<void>;
  rescue(id: string, options?: CallOptions): Promise<void>;
  unrescue(id: string, options?: CallOptions): Promise<void>;
  shelve(id: string, options?: CallOptions): Promise<void>;
  unshelve(id: string, options?: CallOptions): Promise<void>;
  resize(id: string, flavor: string, options?: CallOptions): Promise<void>;
  confirmResize(id: string, options?: CallOptions): Promise<void>;
  revertResize(id: string, options?: CallOptions): Promise<void>;
  rebuild(id: string, image: string, options?: CallOptions): Promise<Server>;
  /** The new image's id. */
  createImage(id: string, name: string, options?: CallOptions): Promise<string>;
  consoleOutput(id: string, lines?: number, options?: CallOptions): Promise<string>;
  addSecurityGroup(id: string, group: string, options?: CallOptions): Promise<void>;
  removeSecurityGroup(id: string, group: string, options?: CallOptions): Promise<void>;
  /** Deletes at once what soft deletion would keep. */
  forceDelete(id: string, options?: CallOptions): Promise<void>;
  /** For administrators: a running server moves to a host that the scheduler chooses. */
  liveMigrate(id: string, options?: CallOptions): Promise<void>;
  /** For administrators: a stopped server moves; Nova then waits for a confirmation, as after a resize. */
  migrate(id: string, options?: CallOptions): Promise<void>;
  /** For administrators: a server of a host that is down is built again elsewhere. */
  evacuate(id: string, options?: CallOptions): Promise<void>;
}

/** Resources of Nova next to servers and flavors. */
export interface ComputeExtras {
  readonly serverActions: ServerActions;
  interfaces(serverId: string): InterfaceAttachments;
  volumeAttachments(serverId: string): VolumeAttachments;
  /** Merges into the existing values. */
  setMetadata(serverId: string, metadata: Readonly<Record<string, string>>, options?: CallOptions): Promise<void>;
  /** 404 is success. */
  deleteMetadata(serverId: string, key: string, options?: CallOptions): Promise<void>;
  setServerTags(serverId: string, tags: readonly string[], options?: CallOptions): Promise<void>;
  /** What was done with a server, the latest first; also after its end. */
  instanceActions(serverId: string, options?: CallOptions): Promise<InstanceAction[]>;
  readonly keypairs: Collection<Keypair, KeypairCreate, never>;
  readonly flavors: Collection<Flavor, FlavorCreate, { description: string }>;
  setExtraSpecs(flavorId: string, specs: Readonly<Record<string, string>>, options?: CallOptions): Promise<void>;
  /** For administrators. */
  readonly hypervisors: Pick<ReadOnlyCollection<Hypervisor>, "list" | "all" | "get" | "find">;
  readonly hosts: Pick<ReadOnlyCollection<ComputeHost>, "list" | "all">;
  /** Deletes a service of a host without servers, with its resource provider. @throws OPENSTACK_CONFLICT */
  deleteHost(id: string, options?: CallOptions): Promise<void>;
  /** `id` is the service's of the host. */
  changeHost(id: string, change: ComputeHostChange, options?: CallOptions): Promise<void>;
  readonly aggregates: Pick<ReadOnlyCollection<HostAggregate>, "list" | "all">;
  quota(projectId: string, options?: CallOptions): Promise<ComputeQuota>;
  setQuota(projectId: string, quota: ComputeQuota, options?: CallOptions): Promise<ComputeQuota>;
}
/** The ports of one server. */
export interface InterfaceAttachments {
  all(options?: CallOptions): Promise<InterfaceAttachment[]>;
  attach(
    to: { port_id: string } | { net_id: string; fixed_ips?: { ip_address: string }[] },
    options?: CallOptions,
  ): Promise<InterfaceAttachment>;
  /** 404 is success. */
  detach(portId: string, options?: CallOptions): Promise<void>;
}
/** The volumes of one server. */
export interface VolumeAttachments {
  all(options?: CallOptions): Promise<VolumeAttachment[]>;
  attach(
    volume: { volumeId: string; device?: string; tag?: string; delete_on_termination?: boolean },
    options?: CallOptions,
  ): Promise<VolumeAttachment>;
  /** 404 is success. */
  detach(volumeId: string, options?: CallOptions): Promise<void>;
}
