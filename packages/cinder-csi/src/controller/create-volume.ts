import { CausewayError, type Clock, type Log } from "@causeway/foundation";
import { isOpenStackNotFound, until, type Volume, type VolumeCreate } from "@causeway/openstack";
import type { StorageCloud } from "../clouds.ts";
import { LONGEST_CALL } from "./call.ts";
import { DESCRIPTION, METADATA_BACKUP } from "../names.ts";
import type { NamedReads } from "./named-reads.ts";
import { planCreate, type CreateStep } from "./plan-create.ts";
import type { VolumeSpec } from "./volume-spec.ts";

/** A call that creates one volume. */
export interface CreateCall {
  readonly storage: StorageCloud;
  readonly reads: NamedReads<Volume>;
  readonly spec: VolumeSpec;
  readonly hints: { readonly sameHost: readonly string[]; readonly differentHost: readonly string[] };
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Log;
}

/** Steps of one call: create, wait, read again, discard. */
const MOST_STEPS = 12;

/** The volume of the requested name, after Cinder has finished it. */
export async function createVolume(call: CreateCall): Promise<Volume> {
  const { spec } = call;
  let own: string | undefined;
  let existing: readonly Volume[] = await named(call);
  for (let count = 0; count < MOST_STEPS; count += 1) {
    const step = planCreate({ spec, existing, now: call.clock.now(), ...(own !== undefined && { own }) });
    switch (step.type) {
      case "done":
        return step.volume;
      case "create": {
        const made = await create(call);
        own = made.isOwn ? made.volume.id : undefined;
        // After a lost answer there may be several; one that was created is not returned before all are known.
        existing = made.isOwn ? [made.volume] : await named(call);
        break;
      }
      case "wait":
        await finished(call, step.volume.id);
        // The list that showed the end began after the volume was created: what another controller had created by then
        // is in it, too.
        existing = call.storage.volumes.byIndex("name", spec.name);
        break;
      case "discard":
        for (const id of step.ids) await discard(call, id);
        existing = existing.filter(({ id }) => !step.ids.includes(id));
        break;
      case "yield":
        await discard(call, step.id);
        throw new CausewayError("CSI_ABORTED", `Another controller created volume ${spec.name} at the same time.`);
      case "remove-failed":
        throw await removeFailed(call, step.volume);
      case "fail":
        throw failure(step);
    }
  }
  throw new CausewayError("CSI_ABORTED", `Volume ${spec.name} keeps changing.`);
}

const failure = (step: Extract<CreateStep, { type: "fail" }>) => new CausewayError(step.code, step.message);

/** From Cinder, not from the informer's copy: another controller may have created it a moment ago. */
const named = ({ reads, spec, signal }: CreateCall): Promise<readonly Volume[]> => reads.named(spec.name, signal);

/** `isOwn` is false when the answer was lost: the volume that was found may be another controller's. */
async function create(call: CreateCall): Promise<{ readonly volume: Volume; readonly isOwn: boolean }> {
  const { storage, spec, signal } = call;
  const body: VolumeCreate = { ...bodyOf(call), ...(await contentOf(call)) };
  let isOwn = true;
  const recover = async () => {
    const [first] = await named(call);
    isOwn &&= first === undefined;
    return first;
  };
  const volume = await storage.cloud.blockStorage.volumes.create(body, { signal, recover });
  call.log.info("created a volume", { volume: volume.id, name: spec.name, gib: spec.gib });
  storage.volumes.observe(volume);
  return { volume, isOwn };
}

/** Cinder refuses to delete a volume that it still creates. */
async function discard(call: CreateCall, id: string): Promise<void> {
  const { storage, spec, signal, log } = call;
  log.warn("deleting a second volume of one name", { name: spec.name, volume: id });
  await finished(call, id);
  await storage.cloud.blockStorage.volumes.delete(id, { signal });
  storage.volumes.hurry();
}

function bodyOf({ spec, hints }: CreateCall): VolumeCreate {
  const schedulerHints = {
    ...(hints.sameHost.length > 0 && { same_host: hints.sameHost }),
    ...(hints.differentHost.length > 0 && { different_host: hints.differentHost }),
  };
  return {
    name: spec.name,
    description: DESCRIPTION,
    size: spec.gib,
    metadata: { ...spec.metadata },
    ...(spec.type !== undefined && { volume_type: spec.type }),
    ...(spec.zone !== undefined && { availability_zone: spec.zone }),
    ...(Object.keys(schedulerHints).length > 0 && { schedulerHints }),
  };
}

type Content = Pick<VolumeCreate, "snapshot_id" | "source_volid" | "backup_id" | "metadata">;

/** The source's fields, after a check that it is there and complete. */
async function contentOf(call: CreateCall): Promise<Content> {
  const { source } = call.spec;
  if (source === undefined) return {};
  const { blockStorage } = call.storage.cloud;
  const options = { signal: call.signal };
  if (source.type === "volume") {
    const volume = await blockStorage.volumes.find(source.id, options);
    if (!volume) throw new CausewayError("CSI_NOT_FOUND", `Source volume ${source.id} does not exist.`);
    requireRoom(call, "volume", volume);
    return { source_volid: source.id };
  }
  const snapshot = await blockStorage.snapshots.find(source.id, options);
  if (snapshot) {
    requireAvailable("Snapshot", snapshot);
    requireRoom(call, "snapshot", snapshot);
    return { snapshot_id: source.id };
  }
  const backup = await blockStorage.backups.find(source.id, options).catch(noBackupService);
  if (!backup) throw new CausewayError("CSI_NOT_FOUND", `There is no snapshot or backup ${source.id}.`);
  requireAvailable("Backup", backup);
  requireRoom(call, "backup", backup);
  return { backup_id: source.id, metadata: { ...call.spec.metadata, [METADATA_BACKUP]: source.id } };
}

/** A cloud without the backup service refuses the request in one of several ways. */
function noBackupService(error: unknown): undefined {
  if (isOpenStackNotFound(error)) return undefined;
  throw error;
}

function requireAvailable(kind: string, { id, status }: { readonly id: string; readonly status: string }): void {
  if (status === "available") return;
  throw new CausewayError("CSI_UNAVAILABLE", `${kind} ${id} is not yet available: its status is ${status}.`);
}

function requireRoom(
  { spec }: CreateCall,
  kind: string,
  { id, size }: { readonly id: string; readonly size: number },
): void {
  if (spec.gib >= size) return;
  throw new CausewayError(
    "CSI_OUT_OF_RANGE",
    `The volume of ${spec.gib} GiB is smaller than its source, ${kind} ${id} of ${size} GiB.`,
  );
}

/** Until Cinder has finished the volume, in whatever way. */
async function finished({ storage, signal, clock }: CreateCall, id: string): Promise<void> {
  const isPending = (volume: Volume | undefined) =>
    volume !== undefined && ["creating", "downloading", "restoring-backup"].includes(volume.status);
  const options = { signal, clock, timeout: LONGEST_CALL, hurry: false };
  await until(storage.volumes, id, (volume) => !isPending(volume), options);
}

/** A volume in status error is no volume: delete it, and the next call creates another. */
async function removeFailed({ storage, signal, log }: CreateCall, { id, name }: Volume): Promise<CausewayError> {
  log.warn("deleting a volume that Cinder could not create", { volume: id, name });
  await storage.cloud.blockStorage.volumes.delete(id, { signal });
  storage.volumes.hurry();
  return new CausewayError("CSI_INTERNAL", `Cinder could not create volume ${id} named ${name}; it is deleted.`, {
    hint: "`openstack volume message list` shows why, unless the cloud is older than that.",
  });
}
