/** Nova, wire-true: https://docs.openstack.org/api-ref/compute/ */

/** The status of a server, in Nova's words. */
export type ServerStatus =
  | "ACTIVE"
  | "BUILD"
  | "DELETED"
  | "ERROR"
  | "HARD_REBOOT"
  | "MIGRATING"
  | "PAUSED"
  | "REBOOT"
  | "REBUILD"
  | "RESCUE"
  | "RESIZE"
  | "SHELVED"
  | "SHELVED_OFFLOADED"
  | "SHUTOFF"
  | "SOFT_DELETED"
  | "SUSPENDED"
  | "UNKNOWN"
  | "VERIFY_RESIZE";

/** An address of a server on one of its networks. */
export interface ServerAddress {
  addr: string;
  version: 4 | 6;
  "OS-EXT-IPS:type"?: "fixed" | "floating";
  "OS-EXT-IPS-MAC:mac_addr"?: string;
}

/** A server: https://docs.openstack.org/api-ref/compute/#servers-servers . */
export interface Server {
  id: string;
  name: string;
  status: ServerStatus;
  tenant_id: string;
  user_id: string;
  created: string;
  updated: string;
  hostId: string;
  addresses: Record<string, ServerAddress[]>;
  metadata: Record<string, string>;
  tags?: string[];
  key_name: string | null;
  flavor: { id?: string; original_name?: string; vcpus?: number; ram?: number; disk?: number };
  image: { id: string } | "";
  "OS-EXT-AZ:availability_zone"?: string;
  "OS-EXT-STS:vm_state"?: string;
  "OS-EXT-STS:task_state"?: string | null;
  "OS-EXT-STS:power_state"?: number;
  /** Administrators only. */
  "OS-EXT-SRV-ATTR:user_data"?: string | null;
  "OS-EXT-SRV-ATTR:hostname"?: string;
  "OS-EXT-SRV-ATTR:host"?: string | null;
  "os-extended-volumes:volumes_attached"?: { id: string; delete_on_termination?: boolean }[];
  security_groups?: { name: string }[];
  config_drive?: string;
  fault?: { code: number; message: string; created: string };
}
/** A disk of a server: where its contents come from, and where they are. */
export interface BlockDeviceMapping {
  boot_index: number;
  uuid?: string;
  source_type: "image" | "volume" | "blank" | "snapshot";
  destination_type: "local" | "volume";
  volume_size?: number;
  volume_type?: string;
  delete_on_termination?: boolean;
  tag?: string;
  device_type?: string;
}
/** What a server is created with. */
export interface ServerCreate {
  name: string;
  flavorRef: string;
  imageRef?: string;
  networks: { port?: string; uuid?: string; fixed_ip?: string; tag?: string }[] | "auto" | "none";
  user_data?: string;
  availability_zone?: string;
  key_name?: string;
  metadata?: Record<string, string>;
  tags?: string[];
  config_drive?: boolean;
  security_groups?: { name: string }[];
  block_device_mapping_v2?: BlockDeviceMapping[];
  min_count?: number;
  max_count?: number;
  description?: string;
  /** Sent next to the server, as "os:scheduler_hints". */
  schedulerHints?: Record<string, unknown>;
}
/** What of a server can be changed. */
export interface ServerUpdate {
  name?: string;
  description?: string;
}
/** A flavor: https://docs.openstack.org/api-ref/compute/#flavors . */
export interface Flavor {
  id: string;
  name: string;
  vcpus: number;
  ram: number;
  disk: number;
  "OS-FLV-EXT-DATA:ephemeral"?: number;
  "os-flavor-access:is_public"?: boolean;
  extra_specs?: Record<string, string>;
}
/** Servers that are placed together or apart. */
export interface ServerGroup {
  id: string;
  name: string;
  policy?: string;
  policies?: string[];
  members: string[];
  rules?: Record<string, unknown>;
}
/** What a server group is created with. */
export interface ServerGroupCreate {
  name: string;
  policy?: string;
  policies?: string[];
  rules?: Record<string, unknown>;
}
/** A public key of a user. */
export interface Keypair {
  name: string;
  fingerprint: string;
  public_key: string;
  type?: string;
}
/** A zone where servers can be placed. */
export interface AvailabilityZone {
  zoneName: string;
  zoneState: { available: boolean };
}
