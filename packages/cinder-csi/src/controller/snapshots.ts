import { CausewayError, type Clock, type Log } from "@causeway/foundation";
import { isOpenStackNotFound, type VolumeBackup, type VolumeSnapshot } from "@causeway/openstack";
import type { StorageCloud } from "../clouds.ts";
import { LONGEST_CALL, readPauses } from "./call.ts";
import { DESCRIPTION } from "../names.ts";
import type { SnapshotReads } from "./snapshot-reads.ts";
import { planSnapshot, resultOf, type SnapshotKind, type SnapshotResult, type SnapshotStep } from "./plan-snapshot.ts";

/** A call about snapshots and backups. */
export interface SnapshotCall {
  readonly storage: StorageCloud;
  readonly reads: SnapshotReads;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Log;
}

/** What a CreateSnapshot call requests. */
export interface SnapshotSpec {
  readonly kind: SnapshotKind;
  readonly name: string;
  readonly volumeId: string;
  readonly force: boolean;
  /** Of a backup. */
  readonly zone: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

const MOST_STEPS = 12;

/**
 * A snapshot or backup of the volume whose content is fixed; `ready` may be false for a backup that Cinder still
 * copies.
 */
export async function createSnapshot(call: SnapshotCall, spec: SnapshotSpec): Promise<SnapshotResult> {
  const { blockStorage } = call.storage.cloud;
  const { signal } = call;
  await requireBackupService(call, spec);
  let view = await named(call, spec);
  for (let count = 0; count < MOST_STEPS; count += 1) {
    const step = planSnapshot({ ...spec, ...view });
    switch (step.type) {
      case "done":
        return step.result;
      case "fail":
        throw new CausewayError(step.code, step.message);
      case "create-snapshot":
        await make(call, spec);
        view = { ...view, snapshots: await settled(call, spec) };
        continue;
      case "wait-snapshot":
        view = { ...view, snapshots: await settled(call, spec) };
        continue;
      case "create-backup":
        await makeBackup(call, spec, step.snapshot);
        break;
      case "delete-snapshot":
        await blockStorage.snapshots.delete(step.id, { signal });
        break;
      case "remove-failed":
        throw await removeFailed(call, step);
    }
    view = await named(call, spec);
  }
  throw new CausewayError("CSI_ABORTED", `Snapshot ${spec.name} keeps changing.`);
}

interface Named {
  readonly snapshots: readonly VolumeSnapshot[];
  readonly backups: readonly VolumeBackup[];
}

async function named({ storage, reads, signal }: SnapshotCall, { name, kind }: SnapshotSpec): Promise<Named> {
  const { backups } = storage.cloud.blockStorage;
  const isNamed = (each: { readonly name: string | null }) => each.name === name;
  return {
    snapshots: await reads.named(name, signal),
    backups: kind === "backup" ? (await backups.all({ name }, { signal })).filter(isNamed) : [],
  };
}

async function make({ storage, signal, log }: SnapshotCall, spec: SnapshotSpec): Promise<void> {
  const { snapshots, volumes } = storage.cloud.blockStorage;
  // Of a volume that the informer has, Cinder itself says so if it is deleted by now.
  if (!storage.volumes.get(spec.volumeId) && !(await volumes.find(spec.volumeId, { signal }))) {
    throw new CausewayError("CSI_NOT_FOUND", `Source volume ${spec.volumeId} does not exist.`);
  }
  const body = {
    volume_id: spec.volumeId,
    name: spec.name,
    description: DESCRIPTION,
    metadata: { ...spec.metadata },
    ...(spec.force && { force: true }),
  };
  const recover = async () =>
    (await snapshots.all({ name: spec.name }, { signal })).find(({ name }) => name === spec.name);
  const { id } = await snapshots.create(body, { signal, recover });
  log.info("created a snapshot", { snapshot: id, volume: spec.volumeId });
}

async function makeBackup(
  { storage, signal, log }: SnapshotCall,
  spec: SnapshotSpec,
  snapshot: VolumeSnapshot,
): Promise<void> {
  const { backups } = storage.cloud.blockStorage;
  const body = {
    volume_id: spec.volumeId,
    snapshot_id: snapshot.id,
    name: spec.name,
    description: DESCRIPTION,
    metadata: { ...spec.metadata },
    ...(spec.force && { force: true }),
    ...(spec.zone !== undefined && { availability_zone: spec.zone }),
  };
  const recover = async () =>
    (await backups.all({ name: spec.name }, { signal })).find(({ name }) => name === spec.name);
  const { id } = await backups.create(body, { signal, recover });
  log.info("created a backup", { backup: id, snapshot: snapshot.id, volume: spec.volumeId });
}

/** A cloud without cinder-backup has the API without it, or refuses every request. */
async function requireBackupService({ storage, signal }: SnapshotCall, { kind, name }: SnapshotSpec): Promise<void> {
  if (kind !== "backup") return;
  try {
    await storage.cloud.blockStorage.backups.all({ name }, { signal });
  } catch (error) {
    if (!isOpenStackNotFound(error)) throw error;
    throw new CausewayError("CSI_FAILED_PRECONDITION", "This cloud has no backup service (cinder-backup).", {
      cause: error,
      hint: "Set type: snapshot in the VolumeSnapshotClass.",
    });
  }
}

/** The snapshots of the name after Cinder has finished them, or they are gone. */
async function settled({ reads, signal }: SnapshotCall, { name }: SnapshotSpec): Promise<readonly VolumeSnapshot[]> {
  const isDone = (all: readonly VolumeSnapshot[]) => all.every(({ status }) => status !== "creating");
  const found = await reads.settled(name, isDone, { signal, timeout: LONGEST_CALL });
  if (found) return found;
  throw new CausewayError("CSI_DEADLINE_EXCEEDED", `Cinder did not finish snapshot ${name} in time.`);
}

async function polled({ clock, signal }: SnapshotCall, what: string, isDone: () => Promise<boolean>): Promise<void> {
  const delay = readPauses();
  const end = clock.now() + LONGEST_CALL;
  for (let count = 1; ; count += 1) {
    await clock.sleep(delay(count), signal);
    if (await isDone()) return;
    if (clock.now() >= end) throw new CausewayError("CSI_DEADLINE_EXCEEDED", `Cinder did not finish ${what} in time.`);
  }
}

async function removeFailed(
  { storage, signal, log }: SnapshotCall,
  { kind, id }: Extract<SnapshotStep, { type: "remove-failed" }>,
): Promise<CausewayError> {
  const { snapshots, backups } = storage.cloud.blockStorage;
  log.warn("deleting a snapshot that Cinder could not create", { kind, id });
  await (kind === "backup" ? backups : snapshots).delete(id, { signal });
  return new CausewayError("CSI_INTERNAL", `Cinder could not create ${kind} ${id}; it is deleted.`);
}

/** Deletes the snapshot or backup of this ID, and waits until Cinder has: what it cannot delete is tried again. */
export async function deleteSnapshot(call: SnapshotCall, id: string): Promise<void> {
  const { snapshots, backups } = call.storage.cloud.blockStorage;
  if (await removed(call, "snapshot", snapshots, id)) return;
  const backup = await backups.find(id, { signal: call.signal });
  if (!backup) return;
  await removed(call, "backup", backups, id);
  // Left when the controller ended between the backup and the deletion of its snapshot.
  const snapshot =
    backup.snapshot_id === null ? undefined : await snapshots.find(backup.snapshot_id, { signal: call.signal });
  if (snapshot && snapshot.name === backup.name) await removed(call, "snapshot", snapshots, snapshot.id);
}

interface Removable {
  find(
    id: string,
    options: { signal: AbortSignal },
  ): Promise<{ readonly status: string; readonly group_snapshot_id?: string | null } | undefined>;
  delete(id: string, options: { signal: AbortSignal }): Promise<void>;
}

/** False: there is none. */
async function removed(call: SnapshotCall, kind: SnapshotKind, collection: Removable, id: string): Promise<boolean> {
  const options = { signal: call.signal };
  const before = await collection.find(id, options);
  if (!before) return false;
  if (typeof before.group_snapshot_id === "string") {
    const why = `Snapshot ${id} is part of group snapshot ${before.group_snapshot_id} and cannot be deleted alone.`;
    throw new CausewayError("CSI_INVALID_ARGUMENT", why);
  }
  if (before.status !== "deleting") await collection.delete(id, options);
  await polled(call, `the deletion of ${kind} ${id}`, async () => {
    const now = await collection.find(id, options);
    if (now === undefined || now.status === "deleting") return now === undefined;
    throw new CausewayError("CSI_INTERNAL", `Cinder could not delete ${kind} ${id}: its status is ${now.status}.`);
  });
  return true;
}

/** One page of snapshots, in the order of their IDs. */
export interface SnapshotPage {
  readonly entries: readonly SnapshotResult[];
  readonly next: string;
}

/** What a ListSnapshots call requests. "" represents no filter; `after` is the token of the page before. */
export interface SnapshotQuery {
  readonly snapshotId: string;
  readonly volumeId: string;
  readonly after: string;
  /** 0: all. */
  readonly most: number;
}

/** Snapshots that are available; a backup is found by its ID only. */
export async function listSnapshots(
  { storage, signal }: Pick<SnapshotCall, "storage" | "signal">,
  query: SnapshotQuery,
): Promise<SnapshotPage> {
  const { snapshots, backups } = storage.cloud.blockStorage;
  if (query.snapshotId !== "") {
    const one = await snapshots.find(query.snapshotId, { signal });
    if (one) return { entries: [resultOf(one, one.status === "available")], next: "" };
    const backup = await backups.find(query.snapshotId, { signal });
    return { entries: backup ? [resultOf(backup, backup.status === "available")] : [], next: "" };
  }
  const filter = { status: "available", ...(query.volumeId !== "" && { volume_id: query.volumeId }) };
  const all = (await snapshots.all(filter, { signal })).filter(({ status }) => status === "available");
  return pageOf(
    all.map((each) => resultOf(each, true)),
    query,
  );
}

/** A page after an ID. A token remains valid when its object is deleted between two pages. */
export function pageOf<T extends { readonly id: string }>(
  all: readonly T[],
  { after, most }: { readonly after: string; readonly most: number },
): { readonly entries: readonly T[]; readonly next: string } {
  const rest = all.filter(({ id }) => id > after).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (most <= 0 || rest.length <= most) return { entries: rest, next: "" };
  const entries = rest.slice(0, most);
  return { entries, next: entries.at(-1)?.id ?? "" };
}
