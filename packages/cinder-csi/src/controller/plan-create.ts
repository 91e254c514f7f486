import { elect } from "@causeway/csi-openstack";
import type { Volume } from "@causeway/openstack";
import { METADATA_BACKUP, METADATA_CLUSTER } from "../names.ts";
import type { VolumeSpec } from "./volume-spec.ts";

/** What a CreateVolume call does next. */
export type CreateStep =
  | { readonly type: "create" }
  | { readonly type: "wait"; readonly volume: Volume }
  | { readonly type: "done"; readonly volume: Volume }
  /** Another controller created a volume of the name earlier: delete the one of this call, and end it. */
  | { readonly type: "yield"; readonly id: string }
  /** Delete the younger volumes of the name; their calls did not return them. */
  | { readonly type: "discard"; readonly ids: readonly string[] }
  /** Cinder could not create it. */
  | { readonly type: "remove-failed"; readonly volume: Volume }
  | { readonly type: "fail"; readonly code: FailureCode; readonly message: string };

type FailureCode = "CSI_ALREADY_EXISTS" | "CSI_INTERNAL" | "CSI_ABORTED";

/** What `planCreate` reads. */
export interface CreateView {
  readonly spec: VolumeSpec;
  /** Every volume of the requested name. */
  readonly existing: readonly Volume[];
  /** The volume that this call created, where its answer was received. */
  readonly own?: string;
  readonly now: number;
}

const FAILED = new Set(["error", "error_deleting"]);
const PENDING = new Set(["creating", "downloading", "restoring-backup"]);
/** The volume of the requested name, which csi-openstack's election chooses where there are several. */
export function planCreate(view: CreateView): CreateStep {
  const { spec } = view;
  const result = elect(view);
  switch (result.type) {
    case "none":
      return { type: "create" };
    case "deleting":
      return fail("CSI_ABORTED", `The volume named ${spec.name} is being deleted.`);
    case "tie":
      return fail("CSI_ABORTED", `Several volumes named ${spec.name} were created at the same time.`);
    case "yield":
      return result;
    case "winner":
      return withWinner(spec, result.winner, result.others);
  }
}

function withWinner(spec: VolumeSpec, winner: Volume, others: readonly Volume[]): CreateStep {
  const difference = differenceOf(spec, winner);
  if (difference !== undefined) {
    return fail("CSI_ALREADY_EXISTS", `Volume ${winner.id} is named ${spec.name} and has ${difference}.`);
  }
  return others.length > 0 ? withoutOthers(spec, others) : alone(spec, winner);
}

function withoutOthers(spec: VolumeSpec, others: readonly Volume[]): CreateStep {
  const kept = others.filter((volume) => !isOurs(spec, volume) || volume.attachments.length > 0);
  if (kept.length === 0) return { type: "discard", ids: others.map(({ id }) => id) };
  const ids = kept.map(({ id }) => id).join(", ");
  return fail(
    "CSI_INTERNAL",
    `Other volumes are named ${spec.name}: ${ids}. Rename or delete those that are not in use.`,
  );
}

function alone(spec: VolumeSpec, winner: Volume): CreateStep {
  if (PENDING.has(winner.status)) return { type: "wait", volume: winner };
  if (!winner.status.startsWith("error")) return { type: "done", volume: winner };
  // A deletion that failed was of a volume that could not be created, too.
  if (isOurs(spec, winner) && FAILED.has(winner.status) && winner.attachments.length === 0) {
    return { type: "remove-failed", volume: winner };
  }
  return fail("CSI_INTERNAL", `Volume ${winner.id} named ${spec.name} has status ${winner.status}.`);
}

const isOurs = (spec: VolumeSpec, volume: Volume): boolean =>
  volume.metadata[METADATA_CLUSTER] === spec.metadata[METADATA_CLUSTER];

const fail = (code: FailureCode, message: string): CreateStep => ({ type: "fail", code, message });

function differenceOf({ gib, source }: VolumeSpec, volume: Volume): string | undefined {
  if (volume.size !== gib) return `${volume.size} GiB instead of ${gib}`;
  const origin = originOf(volume);
  // While Cinder restores a backup, the volume has the metadata of the one that was backed up for a moment.
  const isRestoring = PENDING.has(volume.status) && !volume.snapshot_id && !volume.source_volid;
  if (isRestoring && source?.type === "snapshot") return undefined;
  if (origin === (source?.id ?? undefined)) return undefined;
  return origin === undefined ? "no content source" : `content source ${origin}`;
}

/**
 * What Cinder itself records in the metadata of a volume that it has restored a backup into. It replaces the others by
 * those of the backup's volume.
 */
const RESTORED = "src_backup_id";

/** The snapshot, backup or volume that its content was copied from. */
export function originOf(volume: Volume): string | undefined {
  const { snapshot_id, source_volid, metadata } = volume;
  return snapshot_id || source_volid || metadata[RESTORED] || metadata[METADATA_BACKUP] || undefined;
}
