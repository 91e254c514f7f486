/** Manila v2, wire-true: https://docs.openstack.org/api-ref/shared-file-system/ */
import type { CallOptions, Collection, Query, ReadOnlyCollection } from "./collection.ts";

/** A share: https://docs.openstack.org/api-ref/shared-file-system/#shares . */
export interface Share {
  id: string;
  name: string | null;
  description: string | null;
  /** creating, available, error, deleting, extending, shrinking, … */
  status: string;
  /** GiB. */
  size: number;
  share_proto: string;
  share_type: string;
  share_type_name: string;
  share_network_id: string | null;
  snapshot_id: string | null;
  share_group_id: string | null;
  /** Of its type when it was created. */
  snapshot_support: boolean;
  create_share_from_snapshot_support: boolean;
  availability_zone: string | null;
  is_public: boolean;
  metadata: Record<string, string>;
  created_at: string;
}
/** What a share is created with. */
export interface ShareCreate {
  name?: string;
  description?: string;
  share_proto: "NFS" | "CIFS" | "CEPHFS" | "GLUSTERFS" | "HDFS" | "MAPRFS";
  /** GiB. */
  size: number;
  share_type?: string;
  share_network_id?: string;
  snapshot_id?: string;
  share_group_id?: string;
  /** From 2.65 on: IDs of shares, separated by commas. */
  scheduler_hints?: { same_host?: string; different_host?: string };
  availability_zone?: string;
  is_public?: boolean;
  metadata?: Record<string, string>;
}
/** What of a share can be changed. */
export interface ShareUpdate {
  display_name?: string;
  display_description?: string;
  is_public?: boolean;
}
/** Where a share can be mounted from. */
export interface ExportLocation {
  id: string;
  path: string;
  preferred?: boolean;
  /** For administrators: only they may use it. */
  is_admin_only?: boolean;
}
/** Who may mount a share, by address, user or cephx name. */
export interface AccessRule {
  id: string;
  access_type: "ip" | "user" | "cert" | "cephx";
  access_to: string;
  access_level: "rw" | "ro";
  /** queued_to_apply, applying, active, error, queued_to_deny, denying */
  state: string;
  /** For cephx. A secret. */
  access_key?: string | null;
}
/** Who may mount a share, and whether only for reading. */
export interface AccessRuleCreate {
  access_type: AccessRule["access_type"];
  access_to: string;
  access_level?: AccessRule["access_level"];
  metadata?: Record<string, string>;
}
/** A snapshot of a share. */
export interface ShareSnapshot {
  id: string;
  name: string | null;
  share_id: string;
  status: string;
  size: number;
  share_size: number;
  share_proto: string;
  created_at: string;
}
/** What a snapshot is created with. */
export interface ShareSnapshotCreate {
  share_id: string;
  name?: string;
  description?: string;
  force?: boolean;
}
/** The network that a share server is on. */
export interface ShareNetwork {
  id: string;
  name: string | null;
  description: string | null;
  status?: string;
  share_network_subnets?: { id: string; neutron_net_id: string | null; neutron_subnet_id: string | null }[];
}
/** What a share network is created with. */
export interface ShareNetworkCreate {
  name?: string;
  description?: string;
  neutron_net_id?: string;
  neutron_subnet_id?: string;
  availability_zone?: string;
}
/** A type of shares. */
export interface ShareType {
  id: string;
  name: string;
  description: string | null;
  is_default: boolean;
  extra_specs: Record<string, string>;
  required_extra_specs: Record<string, string>;
}
/** What a share type is created with. */
export interface ShareTypeCreate {
  name: string;
  description?: string;
  extra_specs: Record<string, string>;
  "share_type_access:is_public"?: boolean;
}

/** Why an asynchronous operation failed (2.37). */
export interface UserMessage {
  id: string;
  resource_id: string;
  resource_type: string;
  message_level: string;
  /** "002" no valid host, "003" unexpected network, "007" to "009" what the scheduler's filters excluded, … */
  detail_id: string;
  user_message: string;
  created_at: string;
}

/** Manila: https://docs.openstack.org/api-ref/shared-file-system/ . */
export interface SharedFileSystemService {
  readonly userMessages: ReadOnlyCollection<UserMessage>;
  readonly shares: Collection<Share, ShareCreate, ShareUpdate>;
  readonly snapshots: Collection<ShareSnapshot, ShareSnapshotCreate, ShareUpdate>;
  readonly shareNetworks: Collection<ShareNetwork, ShareNetworkCreate, { name?: string; description?: string }>;
  readonly shareTypes: Collection<ShareType, ShareTypeCreate, { name?: string; description?: string }>;
  readonly availabilityZones: Pick<ReadOnlyCollection<{ id: string; name: string }>, "list" | "all">;
  exportLocations(shareId: string, options?: CallOptions): Promise<ExportLocation[]>;
  accessRules(shareId: string, query?: Query, options?: CallOptions): Promise<AccessRule[]>;
  allow(shareId: string, rule: AccessRuleCreate, options?: CallOptions): Promise<AccessRule>;
  /** 404 is success. */
  deny(shareId: string, ruleId: string, options?: CallOptions): Promise<void>;
  /** To `size` GiB. */
  extend(shareId: string, size: number, options?: CallOptions): Promise<void>;
  shrink(shareId: string, size: number, options?: CallOptions): Promise<void>;
  setMetadata(shareId: string, metadata: Readonly<Record<string, string>>, options?: CallOptions): Promise<void>;
  /** maxTotalShares, totalSharesUsed, maxTotalShareGigabytes, … */
  limits(options?: CallOptions): Promise<Record<string, number>>;
}
