import { CausewayError, type Clock, type Log } from "@causeway/foundation";
import { isOpenStackNotFound, type VolumeSnapshot } from "@causeway/openstack";
import type { StorageCloud } from "../clouds.ts";
import { LONGEST_CALL, readPauses } from "./call.ts";
import { DESCRIPTION } from "../names.ts";
import {
  nameOfIndependent,
  planGroupSnapshot,
  type GroupSnapshotResult,
  type GroupSnapshotSpec,
  type GroupSnapshotStep,
  type Sources,
} from "./plan-group-snapshot.ts";

/** A call about group snapshots. */
export interface GroupCall {
  readonly storage: StorageCloud;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Log;
}

const MOST_STEPS = 64;

/** The snapshots of all requested volumes, after Cinder has finished them. */
export async function createGroupSnapshot(call: GroupCall, spec: GroupSnapshotSpec): Promise<GroupSnapshotResult> {
  const { clock, signal } = call;
  const end = clock.now() + LONGEST_CALL;
  const delay = readPauses();
  let sources: Sources | undefined;
  let waits = 0;
  for (let count = 0; count < MOST_STEPS; count += 1) {
    const view = { spec, ...(await named(call, spec)), now: clock.now(), ...(sources && { sources }) };
    const step = planGroupSnapshot(view);
    if (step.type === "done") return step.result;
    if (step.type === "read-volumes") sources = await sourcesOf(call, spec);
    else if (step.type !== "wait") await perform(call, spec, step);
    else if (clock.now() >= end)
      throw new CausewayError("CSI_DEADLINE_EXCEEDED", `Cinder did not finish the snapshots ${spec.name} in time.`);
    else await clock.sleep(delay((waits += 1)), signal);
  }
  throw new CausewayError("CSI_ABORTED", `The snapshots named ${spec.name} keep changing.`);
}

async function named({ storage, signal }: GroupCall, { name, consistency }: GroupSnapshotSpec) {
  const { groupSnapshots, snapshots } = storage.cloud.blockStorage;
  const isNamed = (each: { readonly name: string | null }) => each.name === name;
  const groups = consistency === "group" ? await known(groupSnapshots.all({ name }, { signal })) : [];
  // A call for a new name costs no list of snapshots.
  const isNew = consistency === "group" && !groups.some(isNamed);
  return {
    groupSnapshots: groups.filter(isNamed),
    snapshots: isNew ? [] : (await snapshots.all({ name }, { signal })).filter(isNamed),
  };
}

/** Before version 3.14 Cinder has no group snapshots. */
async function known<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isOpenStackNotFound(error)) throw error;
    throw new CausewayError("CSI_FAILED_PRECONDITION", "This cloud has no group snapshots of volumes.", {
      cause: error,
      hint: "Set consistency: volume in the VolumeGroupSnapshotClass for snapshots that are created one after the other.",
    });
  }
}

async function sourcesOf({ storage, signal }: GroupCall, spec: GroupSnapshotSpec): Promise<Sources> {
  const { volumes, groups, groupTypes } = storage.cloud.blockStorage;
  const found = await Promise.all(spec.volumeIds.map((id) => volumes.find(id, { signal })));
  for (const volume of found) if (volume) storage.volumes.observe(volume);
  const id = found[0]?.group_id;
  if (spec.consistency === "volume" || typeof id !== "string") return { volumes: found, inGroup: [] };
  const group = await groups.find(id, { signal });
  if (!group) return { volumes: found, inGroup: [] };
  const [type, all] = await Promise.all([
    groupTypes.find(group.group_type, { signal }),
    volumes.all({ group_id: id }, { signal }),
  ]);
  const inGroup = all.filter(({ group_id }) => group_id === id).map((each) => each.id);
  return { volumes: found, group: { group, type }, inGroup };
}

type Change = Exclude<GroupSnapshotStep, { type: "done" | "read-volumes" | "wait" }>;

async function perform(call: GroupCall, spec: GroupSnapshotSpec, step: Change): Promise<void> {
  const { blockStorage } = call.storage.cloud;
  const { signal } = call;
  switch (step.type) {
    case "fail":
      throw new CausewayError(step.code, step.message, step.hint === undefined ? {} : { hint: step.hint });
    case "create-group-snapshot": {
      const recover = async () =>
        (await blockStorage.groupSnapshots.all({ name: spec.name }, { signal })).find(({ name }) => name === spec.name);
      const body = { group_id: step.groupId, name: spec.name, description: DESCRIPTION };
      const { id } = await blockStorage.createGroupSnapshot(body, { signal, recover });
      call.log.info("created a group snapshot", { groupSnapshot: id, group: step.groupId });
      return;
    }
    case "create-snapshots":
      for (const id of step.volumeIds) await createOne(call, spec, id);
      return;
    case "label":
      for (const id of step.ids) await blockStorage.setSnapshotMetadata(id, spec.metadata, { signal });
      return;
    case "delete-group-snapshots":
    case "delete-snapshots": {
      const { groupSnapshots, snapshots } = blockStorage;
      const collection = step.type === "delete-snapshots" ? snapshots : groupSnapshots;
      call.log.warn("deleting snapshots", { why: step.why, ids: step.ids.join(" ") });
      for (const id of step.ids) await collection.delete(id, { signal });
      throw new CausewayError("CSI_INTERNAL", step.why);
    }
  }
}

async function createOne({ storage, signal, log }: GroupCall, spec: GroupSnapshotSpec, volume: string): Promise<void> {
  const { snapshots } = storage.cloud.blockStorage;
  const body = {
    volume_id: volume,
    name: spec.name,
    description: DESCRIPTION,
    metadata: { ...spec.metadata },
    ...(spec.force && { force: true }),
  };
  const recover = async () =>
    (await snapshots.all({ name: spec.name, volume_id: volume }, { signal })).find(
      (each) => each.name === spec.name && each.volume_id === volume,
    );
  const { id } = await snapshots.create(body, { signal, recover });
  log.info("created a snapshot", { snapshot: id, volume });
}

/** Undefined: there is none. */
export async function readGroupSnapshot(
  { storage, signal }: Pick<GroupCall, "storage" | "signal">,
  id: string,
): Promise<GroupSnapshotResult | undefined> {
  const { snapshots, groupSnapshots } = storage.cloud.blockStorage;
  const name = nameOfIndependent(id);
  if (name !== undefined) {
    const members = await independent({ storage, signal }, name);
    const createdAt = members.map(({ created_at }) => created_at).toSorted()[0] ?? "";
    return members.length === 0 ? undefined : { id, createdAt, ready: isReady(members), members };
  }
  const group = await groupSnapshots.find(id, { signal });
  if (!group) return undefined;
  const isMember = ({ group_snapshot_id }: VolumeSnapshot) => group_snapshot_id === id;
  // Cinder gives the members its name. One that was renamed is found by a list of all.
  const named = (await snapshots.all({ name: group.name ?? "" }, { signal })).filter(isMember);
  const members = named.length > 0 ? named : (await snapshots.all({}, { signal })).filter(isMember);
  const ready = group.status === "available" && isReady(members);
  return { id, createdAt: group.created_at, ready, members };
}

/**
 * The snapshots that are one independent group snapshot. Their ID is only their name, which every user may write into a
 * VolumeGroupSnapshotContent: snapshots that the driver did not create, or that have no name, are never members.
 */
async function independent(
  { storage, signal }: Pick<GroupCall, "storage" | "signal">,
  name: string,
): Promise<VolumeSnapshot[]> {
  if (name === "") return [];
  const all = await storage.cloud.blockStorage.snapshots.all({ name }, { signal });
  return all.filter((each) => each.name === name && each.description === DESCRIPTION);
}

const isReady = (members: readonly VolumeSnapshot[]) => members.every(({ status }) => status === "available");

/** Deletes all members and waits until Cinder has. `given`: the members that the caller knows; empty: it knows none. */
export async function deleteGroupSnapshot(call: GroupCall, id: string, given: readonly string[]): Promise<void> {
  const before = await readGroupSnapshot(call, id);
  if (!before) return;
  requireMembers(before, given);
  await requestDeletion(call, before);
  const [delay, end] = [readPauses(), call.clock.now() + LONGEST_CALL];
  for (let count = 1; ; count += 1) {
    await call.clock.sleep(delay(count), call.signal);
    if (await isGone(call, id)) return;
    if (call.clock.now() >= end)
      throw new CausewayError("CSI_DEADLINE_EXCEEDED", `Cinder did not delete the snapshots ${id} in time.`);
  }
}

/** Throws CSI_INVALID_ARGUMENT when the group snapshot has a member that the caller does not know. */
export function requireMembers({ id, members }: GroupSnapshotResult, given: readonly string[]): void {
  const unknown = members.find((member) => given.length > 0 && !given.includes(member.id));
  if (!unknown) return;
  throw new CausewayError(
    "CSI_INVALID_ARGUMENT",
    `Snapshot ${unknown.id} of group snapshot ${id} is not in the request.`,
  );
}

async function requestDeletion({ storage, signal }: GroupCall, { id, members }: GroupSnapshotResult): Promise<void> {
  const { snapshots } = storage.cloud.blockStorage;
  if (nameOfIndependent(id) === undefined) return deleteGroups({ storage, signal }, id);
  for (const each of members) if (each.status !== "deleting") await snapshots.delete(each.id, { signal });
}

/**
 * The younger ones of the name first, which another controller created and did not return: afterwards no call would
 * find them.
 */
async function deleteGroups({ storage, signal }: Pick<GroupCall, "storage" | "signal">, id: string): Promise<void> {
  const { groupSnapshots } = storage.cloud.blockStorage;
  const own = await groupSnapshots.find(id, { signal });
  if (!own) return;
  const { name, group_id } = own;
  const all = name === null || name === "" ? [] : await groupSnapshots.all({ name }, { signal });
  const twins = all.filter(
    (each) => each.name === name && each.group_id === group_id && each.description === DESCRIPTION && each.id !== id,
  );
  for (const each of [...twins, own]) if (each.status !== "deleting") await groupSnapshots.delete(each.id, { signal });
}

async function isGone({ storage, signal }: GroupCall, id: string): Promise<boolean> {
  const { groupSnapshots } = storage.cloud.blockStorage;
  const name = nameOfIndependent(id);
  const found = name === undefined ? await groupSnapshots.find(id, { signal }) : undefined;
  const left = name === undefined ? (found === undefined ? [] : [found]) : await independent({ storage, signal }, name);
  const failed = left.find(({ status }) => status !== "deleting");
  if (failed)
    throw new CausewayError("CSI_INTERNAL", `Cinder could not delete ${failed.id}: its status is ${failed.status}.`);
  return left.length === 0;
}
