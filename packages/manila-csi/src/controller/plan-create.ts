import { elect } from "@causeway/csi-openstack";
import type { SharedFileSystem } from "@causeway/openstack";
import { METADATA_CLUSTER, SHARE_DESCRIPTION } from "../names.ts";
import type { ShareSpec } from "./share-spec.ts";

type Share = SharedFileSystem.Share;

/** What a CreateVolume call does next. */
export type CreateStep =
  | { readonly type: "create" }
  | { readonly type: "wait"; readonly id: string }
  | { readonly type: "done"; readonly share: Share }
  /** Another controller created a share of the name earlier: delete the one of this call, and end it. */
  | { readonly type: "yield"; readonly id: string }
  /** Delete the younger shares of the name; their calls did not return them. */
  | { readonly type: "discard"; readonly ids: readonly string[] }
  /** Manila could not create it. */
  | { readonly type: "remove-failed"; readonly share: Share }
  | { readonly type: "fail"; readonly code: FailureCode; readonly message: string };

type FailureCode = "CSI_ALREADY_EXISTS" | "CSI_INTERNAL" | "CSI_ABORTED";

/** What `planCreate` reads. */
export interface CreateView {
  readonly spec: ShareSpec;
  /** Every share of the requested name. */
  readonly existing: readonly Share[];
  /** The share that this call created, where its answer was received. */
  readonly own?: string;
  readonly now: number;
}

const FAILED = new Set(["error", "error_deleting"]);
const PENDING = new Set(["creating", "creating_from_snapshot"]);
/** Whether Manila is still creating the share. */
export const isPending = ({ status }: Share): boolean => PENDING.has(status);

/** The share of the requested name, which csi-openstack's election chooses where there are several. */
export function planCreate(view: CreateView): CreateStep {
  const { spec } = view;
  const result = elect(view);
  switch (result.type) {
    case "none":
      return { type: "create" };
    case "deleting":
      return fail("CSI_ABORTED", `The share named ${spec.name} is being deleted.`);
    case "tie":
      return fail("CSI_ABORTED", `Several shares named ${spec.name} were created at the same time.`);
    case "yield":
      return result;
    case "winner":
      return withWinner(spec, result.winner, result.others);
  }
}

function withWinner(spec: ShareSpec, winner: Share, others: readonly Share[]): CreateStep {
  const difference = differenceOf(spec, winner);
  if (difference !== undefined) {
    return fail("CSI_ALREADY_EXISTS", `Share ${winner.id} is named ${spec.name} and has ${difference}.`);
  }
  const foreign = others.filter((share) => !isOurs(spec, share)).map(({ id }) => id);
  if (foreign.length > 0) {
    const ids = foreign.join(", ");
    return fail(
      "CSI_INTERNAL",
      `Other shares are named ${spec.name}: ${ids}. Rename or delete those that are not in use.`,
    );
  }
  if (others.length > 0) return { type: "discard", ids: others.map(({ id }) => id) };
  if (isPending(winner)) return { type: "wait", id: winner.id };
  // A deletion that failed was of a share that could not be created, too.
  if (FAILED.has(winner.status) && isOurs(spec, winner)) return { type: "remove-failed", share: winner };
  if (winner.status === "available") return { type: "done", share: winner };
  return fail("CSI_INTERNAL", `Share ${winner.id} named ${spec.name} has status ${winner.status}.`);
}

/** Created by this driver, for this cluster. */
function isOurs({ metadata }: ShareSpec, share: Share): boolean {
  return share.description === SHARE_DESCRIPTION && share.metadata[METADATA_CLUSTER] === metadata[METADATA_CLUSTER];
}

/** The type is not compared: a StorageClass may have its name or its ID. */
function differenceOf(spec: ShareSpec, share: Share): string | undefined {
  if (share.size !== spec.gib) return `${share.size} GiB instead of ${spec.gib}`;
  if (share.share_proto.toUpperCase() !== spec.protocol) return `protocol ${share.share_proto}`;
  if ((share.share_network_id || undefined) !== spec.networkId) {
    return `share network ${share.share_network_id ?? "none"} instead of ${spec.networkId ?? "none"}`;
  }
  if ((share.snapshot_id || undefined) === spec.snapshotId) return undefined;
  return `source snapshot ${share.snapshot_id ?? "none"} instead of ${spec.snapshotId ?? "none"}`;
}

function fail(code: FailureCode, message: string): CreateStep {
  return { type: "fail", code, message };
}
