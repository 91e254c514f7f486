import type { Volume } from "@causeway/openstack";
import { METADATA_BACKUP, METADATA_CLUSTER } from "../names.ts";
import type { VolumeSpec } from "./volume-spec.ts";

/** What a CreateVolume call does next. */
export type CreateStep =
  | { readonly type: "create" }
  | { readonly type: "wait"; readonly volume: Volume }
  | { readonly type: "done"; readonly volume: Volume }
  /** Another controller created a volume of the same name earlier: delete the one of this call. */
  | { readonly type: "discard"; readonly id: string }
  /** Cinder could not create it. */
  | { readonly type: "remove-failed"; readonly volume: Volume }
  | { readonly type: "fail"; readonly code: FailureCode; readonly message: string };

type FailureCode = "CSI_ALREADY_EXISTS" | "CSI_INTERNAL" | "CSI_ABORTED";

export interface CreateView {
  readonly spec: VolumeSpec;
  /** Every volume of the requested name. */
  readonly existing: readonly Volume[];
  /** The volume that this call created. */
  readonly own?: string;
}

const PENDING = new Set(["creating", "downloading", "restoring-backup"]);

/**
 * A volume's name is the key of the request: at most one volume of the name is ever returned. When two controllers created one each, only
 * the strictly oldest can have been returned, and each controller deletes its own volume only.
 */
export function planCreate({ spec, existing, own }: CreateView): CreateStep {
  if (existing.length === 0) return { type: "create" };
  const winner = oldest(existing);
  if (own !== undefined && winner?.id !== own) return { type: "discard", id: own };
  if (winner === undefined) {
    const ids = existing.map(({ id }) => id).join(", ");
    return fail("CSI_INTERNAL", `Several volumes are named ${spec.name}: ${ids}. Delete those that are not in use.`);
  }
  const difference = differenceOf(spec, winner);
  if (difference !== undefined) {
    return fail("CSI_ALREADY_EXISTS", `Volume ${winner.id} is named ${spec.name} and has ${difference}.`);
  }
  if (PENDING.has(winner.status)) return { type: "wait", volume: winner };
  if (winner.status === "deleting")
    return fail("CSI_ABORTED", `Volume ${winner.id} named ${spec.name} is being deleted.`);
  if (!winner.status.startsWith("error")) return { type: "done", volume: winner };
  const isOurs = winner.metadata[METADATA_CLUSTER] === spec.metadata[METADATA_CLUSTER];
  if (isOurs && winner.status === "error" && winner.attachments.length === 0) {
    return { type: "remove-failed", volume: winner };
  }
  return fail("CSI_INTERNAL", `Volume ${winner.id} named ${spec.name} has status ${winner.status}.`);
}

const fail = (code: FailureCode, message: string): CreateStep => ({ type: "fail", code, message });

/** The oldest volume; undefined when two are of the same age, as Cinder's time stamps have whole seconds. */
function oldest(volumes: readonly Volume[]): Volume | undefined {
  const [first, second] = volumes.toSorted((a, b) => (stampOf(a) < stampOf(b) ? -1 : stampOf(a) > stampOf(b) ? 1 : 0));
  if (first === undefined || second === undefined) return first;
  return stampOf(first) === stampOf(second) ? undefined : first;
}

const stampOf = (volume: Volume): string => volume.created_at ?? "";

function differenceOf({ gib, source }: VolumeSpec, volume: Volume): string | undefined {
  if (volume.size !== gib) return `${volume.size} GiB instead of ${gib}`;
  const origin = originOf(volume);
  if (origin === (source?.id ?? undefined)) return undefined;
  return origin === undefined ? "no content source" : `content source ${origin}`;
}

/** The snapshot, backup or volume that its content was copied from. */
export function originOf(volume: Volume): string | undefined {
  return volume.snapshot_id || volume.source_volid || volume.metadata[METADATA_BACKUP] || undefined;
}
