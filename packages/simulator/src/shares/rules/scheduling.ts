import { noteOf } from "./user-messages.ts";
import type { Share, ShareParts, ShareType, Support } from "../model.ts";

/** The capabilities of the one backend; a type that requires more finds no backend. */
const capabilities: Readonly<Record<string, unknown>> = {
  driver_handles_share_servers: false,
  snapshot_support: true,
  create_share_from_snapshot_support: true,
  revert_to_snapshot_support: false,
  mount_snapshot_support: false,
  dedupe: false,
  compression: false,
  ipv4_support: true,
  ipv6_support: false,
  pool_name: "pool",
  share_backend_name: "simulated",
  storage_protocol: "NFS_CIFS",
  vendor_name: "Open Source",
  driver_version: "1.0",
};

const CAPACITY_GB = 100_000;

/** What the scheduler knows of the backend, as operators see it. */
export const poolCapabilities = (used: number): object => ({
  ...capabilities,
  total_capacity_gb: CAPACITY_GB,
  free_capacity_gb: CAPACITY_GB - used,
  reserved_percentage: 0,
  reserved_snapshot_percentage: 0,
  reserved_share_extend_percentage: 0,
  replication_type: null,
  replication_domain: null,
});

/**
 * The words "<is> True", "True" and a plain value require equality:
 * https://docs.openstack.org/manila/latest/admin/capabilities_and_extra_specs.html .
 */
function matches(capability: unknown, asked: string): boolean {
  const wanted = asked.replace(/^<is>\s*/, "").toLowerCase();
  if (typeof capability !== "boolean") return String(capability).toLowerCase() === wanted;
  return capability === /^(true|t|yes|y|on|1)$/.test(wanted);
}

/** Scoped specs are a vendor's own, but for those of the scope "capabilities". */
function isSatisfied({ extra_specs }: ShareType): boolean {
  return Object.entries(extra_specs).every(([key, asked]) => {
    const name = key.replace(/^capabilities:/, "");
    if (name.includes(":") || name === "availability_zones") return true;
    return capabilities[name] !== undefined && matches(capabilities[name], asked);
  });
}

/** What a share of this type may do with snapshots. */
export function supportOfType({ extra_specs }: ShareType): Support {
  const has = (name: string) => /^(<is>\s*)?(true|t|yes|y|on|1)$/i.test(extra_specs[name] ?? "");
  return {
    snapshot_support: has("snapshot_support"),
    create_share_from_snapshot_support: has("create_share_from_snapshot_support"),
    revert_to_snapshot_support: has("revert_to_snapshot_support"),
    mount_snapshot_support: has("mount_snapshot_support"),
  };
}

/**
 * What becomes of a new share: the backend takes and exports it, or it is in error and a message to its owner says why.
 */
export function placed(parts: ShareParts, share: Share): Partial<Share> {
  const type = parts.types.get(share.type?.id ?? "");
  if (type && !isSatisfied(type)) {
    noteOf(parts, share, "008");
    return { status: "error", place: "none" };
  }
  const used = parts.shares.all().reduce((sum, { id, size }) => sum + (id === share.id ? 0 : size), 0);
  if (used + share.size > CAPACITY_GB) {
    noteOf(parts, share, "009");
    return { status: "error", place: "none" };
  }
  // No backend is up.
  if (parts.kernel.outcome("share.create", share.name ?? "", type?.name ?? "") === "error") {
    noteOf(parts, share, "007");
    return { status: "error", place: "none" };
  }
  if (share.share_network_id !== null) {
    noteOf(parts, share, "003");
    return { status: "error", place: "placed" };
  }
  const mount = share.share_proto === "CEPHFS" ? { metadata: { ...share.metadata, __mount_options: "fs=cephfs" } } : {};
  return { status: "available", place: "exported", ...mount };
}
