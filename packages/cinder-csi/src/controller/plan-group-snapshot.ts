import { elect } from "@causeway/csi-openstack";
import type { GroupSnapshot, Volume, VolumeGroup, VolumeGroupType, VolumeSnapshot } from "@causeway/openstack";
import { DESCRIPTION } from "../names.ts";

/**
 * How the snapshots of several volumes are created. "group": by one Cinder group snapshot, of the same instant.
 * "volume": one after the other, so that each volume is consistent as after a crash, and they are not consistent with
 * each other.
 */
export type Consistency = "group" | "volume";

/** What a CreateVolumeGroupSnapshot call requests. */
export interface GroupSnapshotSpec {
  readonly name: string;
  /** Sorted, without duplicates. */
  readonly volumeIds: readonly string[];
  readonly consistency: Consistency;
  /** Name or ID of the group type that the VolumeGroupSnapshotClass declares as consistent. */
  readonly groupType: string | undefined;
  readonly force: boolean;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A group snapshot whose content is fixed. The ID of one with consistency "volume" is "volumes:NAME". */
export interface GroupSnapshotResult {
  readonly id: string;
  readonly createdAt: string;
  readonly ready: boolean;
  readonly members: readonly VolumeSnapshot[];
}

/** What a CreateVolumeGroupSnapshot call does next. */
export type GroupSnapshotStep =
  | { readonly type: "read-volumes" }
  | { readonly type: "create-group-snapshot"; readonly groupId: string }
  | { readonly type: "create-snapshots"; readonly volumeIds: readonly string[] }
  | { readonly type: "wait" }
  /** Younger group snapshots of the name, or one that Cinder could not create. */
  | { readonly type: "delete-group-snapshots"; readonly ids: readonly string[]; readonly why: string }
  | { readonly type: "delete-snapshots"; readonly ids: readonly string[]; readonly why: string }
  /** Cinder creates the members of a group snapshot without metadata. */
  | { readonly type: "label"; readonly ids: readonly string[] }
  | { readonly type: "done"; readonly result: GroupSnapshotResult }
  | { readonly type: "fail"; readonly code: FailureCode; readonly message: string; readonly hint?: string };

type FailureCode = "CSI_ALREADY_EXISTS" | "CSI_INTERNAL" | "CSI_ABORTED" | "CSI_NOT_FOUND" | "CSI_FAILED_PRECONDITION";

/** What `planGroupSnapshot` reads. */
export interface GroupSnapshotView {
  readonly spec: GroupSnapshotSpec;
  /** All of the name. */
  readonly groupSnapshots: readonly GroupSnapshot[];
  /** All of the name. */
  readonly snapshots: readonly VolumeSnapshot[];
  /** Read only when something has to be created. */
  readonly sources?: Sources;
  readonly now: number;
}

/** The volumes of a group snapshot; undefined represents one that the project does not have. */
export interface Sources {
  readonly volumes: readonly (Volume | undefined)[];
  /** Of the first volume, with its type. */
  readonly group?: { readonly group: VolumeGroup; readonly type: VolumeGroupType | undefined };
  /** IDs of all volumes of that group. */
  readonly inGroup: readonly string[];
}

/** The ID of independent snapshots: they have nothing in common but the name. */
export const independentId = (name: string): string => `volumes:${name}`;
/** The name of a group snapshot with consistency "volume", from its ID; undefined: it is one of Cinder. */
export const nameOfIndependent = (id: string): string | undefined =>
  id.startsWith("volumes:") ? id.slice("volumes:".length) : undefined;

/** What a CreateVolumeGroupSnapshot call does next, until its result is there or it fails. */
export function planGroupSnapshot(view: GroupSnapshotView): GroupSnapshotStep {
  return view.spec.consistency === "group" ? together(view) : oneByOne(view);
}

function together(view: GroupSnapshotView): GroupSnapshotStep {
  const { spec, groupSnapshots } = view;
  const election = elect({ existing: groupSnapshots, now: view.now });
  switch (election.type) {
    case "none":
      return view.sources ? creation(spec, view.sources) : { type: "read-volumes" };
    case "deleting":
      return fail("CSI_ABORTED", `The group snapshot named ${spec.name} is being deleted.`);
    case "tie":
    case "yield":
      return fail("CSI_ABORTED", `Several group snapshots named ${spec.name} were created at the same time.`);
    case "winner":
      return withWinner(view, election.winner, election.others);
  }
}

function withWinner(
  { spec, snapshots }: GroupSnapshotView,
  winner: GroupSnapshot,
  others: readonly GroupSnapshot[],
): GroupSnapshotStep {
  const members = snapshots.filter((each) => each.group_snapshot_id === winner.id);
  if (winner.status === "creating") return { type: "wait" };
  const foreign = [winner, ...others].filter(({ description }) => description !== DESCRIPTION);
  if (foreign.length > 0 && (others.length > 0 || winner.status.startsWith("error"))) {
    const ids = foreign.map(({ id }) => id).join(", ");
    const why = `Group snapshots of another program are named ${spec.name}: ${ids}.`;
    return fail("CSI_INTERNAL", why, "Rename or delete those that are not in use.");
  }
  if (winner.status.startsWith("error")) {
    const why = `Cinder could not create group snapshot ${winner.id}; it is deleted.`;
    return { type: "delete-group-snapshots", ids: [winner.id], why };
  }
  if (!isSame(spec, members)) {
    const of = members.map(({ volume_id }) => volume_id).join(", ");
    return fail("CSI_ALREADY_EXISTS", `Group snapshot ${winner.id} is named ${spec.name} and is of volumes ${of}.`);
  }
  if (others.length > 0) {
    const why = `Other group snapshots are named ${spec.name}; they are deleted.`;
    return { type: "delete-group-snapshots", ids: others.map(({ id }) => id), why };
  }
  const unlabelled = members.filter(({ metadata }) =>
    Object.entries(spec.metadata).some(([key, value]) => metadata[key] !== value),
  );
  if (unlabelled.length > 0) return { type: "label", ids: unlabelled.map(({ id }) => id) };
  const ready = members.every(({ status }) => status === "available");
  return { type: "done", result: { id: winner.id, createdAt: winner.created_at, ready, members } };
}

/** Refuses whatever would not be consistent, or would take snapshots of volumes that were not requested. */
function creation(spec: GroupSnapshotSpec, sources: Sources): GroupSnapshotStep {
  const missing = missingOf(spec, sources);
  if (missing) return missing;
  const outside = sources.volumes.find((volume) => volume?.group_id !== sources.group?.group.id);
  if (!sources.group || outside) {
    const id = outside?.id ?? spec.volumeIds[0] ?? "";
    return fail("CSI_FAILED_PRECONDITION", `Volume ${id} is not in one Cinder group with the others.`, OPTIONS);
  }
  const { group, type } = sources.group;
  const more = sources.inGroup.filter((id) => !spec.volumeIds.includes(id));
  if (more.length > 0) {
    const why = `Group ${group.id} has volumes that were not requested: ${more.join(", ")}.`;
    return fail("CSI_FAILED_PRECONDITION", why, "A group snapshot is of all volumes of a group; select all of them.");
  }
  const isDeclared = spec.groupType !== undefined && [type?.id, type?.name, group.group_type].includes(spec.groupType);
  const isConsistent = type?.group_specs?.["consistent_group_snapshot_enabled"] === "<is> True";
  if (!isDeclared && !isConsistent) {
    const why = `Whether group type ${type?.name ?? group.group_type} has consistent snapshots is not known.`;
    const hint =
      "Set group-type in the VolumeGroupSnapshotClass to the type that has consistent_group_snapshot_enabled.";
    return fail("CSI_FAILED_PRECONDITION", why, hint);
  }
  if (group.status === "available") return { type: "create-group-snapshot", groupId: group.id };
  return fail("CSI_ABORTED", `Group ${group.id} has status ${group.status}.`);
}

const OPTIONS =
  "Put exactly these volumes into a group with consistent snapshots, or set consistency: volume in the VolumeGroupSnapshotClass.";

function missingOf(spec: GroupSnapshotSpec, { volumes }: Sources): GroupSnapshotStep | undefined {
  const at = volumes.indexOf(undefined);
  return at < 0 ? undefined : fail("CSI_NOT_FOUND", `Source volume ${spec.volumeIds[at]} does not exist.`);
}

function oneByOne({ spec, snapshots, sources, now }: GroupSnapshotView): GroupSnapshotStep {
  const strange = snapshots.find(({ volume_id }) => !spec.volumeIds.includes(volume_id));
  if (strange) {
    return fail(
      "CSI_ALREADY_EXISTS",
      `Snapshot ${strange.id} is named ${spec.name} and is of volume ${strange.volume_id}.`,
    );
  }
  const members: VolumeSnapshot[] = [];
  const surplus: string[] = [];
  for (const id of spec.volumeIds) {
    const election = elect({ existing: snapshots.filter(({ volume_id }) => volume_id === id), now });
    if (election.type === "deleting") return fail("CSI_ABORTED", `A snapshot of volume ${id} is being deleted.`);
    if (election.type === "tie") return fail("CSI_ABORTED", `Several snapshots of volume ${id} were created at once.`);
    if (election.type !== "winner") continue;
    members.push(election.winner);
    surplus.push(...election.others.map((each) => each.id));
  }
  if (members.some(({ status }) => status === "creating")) return { type: "wait" };
  const failed = members.filter(({ status }) => status.startsWith("error")).map(({ id }) => id);
  if (failed.length > 0)
    return { type: "delete-snapshots", ids: failed, why: `Cinder could not create snapshots ${failed.join(", ")}.` };
  if (surplus.length > 0)
    return { type: "delete-snapshots", ids: surplus, why: `Several snapshots of a volume are named ${spec.name}.` };
  return members.length < spec.volumeIds.length ? rest(spec, members, sources) : finished(spec, members);
}

function rest(
  spec: GroupSnapshotSpec,
  members: readonly VolumeSnapshot[],
  sources: Sources | undefined,
): GroupSnapshotStep {
  if (!sources) return { type: "read-volumes" };
  const left = spec.volumeIds.filter((id) => !members.some(({ volume_id }) => volume_id === id));
  return missingOf(spec, sources) ?? { type: "create-snapshots", volumeIds: left };
}

function finished({ name }: GroupSnapshotSpec, members: readonly VolumeSnapshot[]): GroupSnapshotStep {
  const createdAt = members.map(({ created_at }) => created_at).toSorted()[0] ?? "";
  const ready = members.every(({ status }) => status === "available");
  return { type: "done", result: { id: independentId(name), createdAt, ready, members } };
}

function isSame({ volumeIds }: GroupSnapshotSpec, members: readonly VolumeSnapshot[]): boolean {
  const own = new Set(members.map(({ volume_id }) => volume_id));
  return own.size === volumeIds.length && volumeIds.every((id) => own.has(id));
}

function fail(code: FailureCode, message: string, hint?: string): GroupSnapshotStep {
  return { type: "fail", code, message, ...(hint !== undefined && { hint }) };
}
