import {
  runPipeline,
  isNotFound,
  keyOf,
  PersistentVolume,
  PersistentVolumeClaim,
  watchInformer,
  type ControllerOptions,
  type Pipeline,
} from "@causeway/kubernetes";
import { CONCURRENCY, fieldManager, type Context } from "../context.ts";
import { shownError } from "../errors.ts";
import { VolumeGroupSnapshot, VolumeGroupSnapshotContent } from "../group-snapshot-objects.ts";
import { VolumeSnapshot, VolumeSnapshotContent } from "../snapshot-objects.ts";
import { claimIndexes, ownerOf, snapshotIndexes } from "../indexes.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan, type Status } from "./plan.ts";
import type { Step } from "./steps.ts";

/** What snapshot-controller does for group snapshots of this driver. Keys are those of VolumeGroupSnapshots. */
export function groupSnapshotController(context: Context): ControllerOptions {
  const { clock, log, informers, driver } = context;
  const groups = informers.for(VolumeGroupSnapshot);
  const groupContents = informers.for(VolumeGroupSnapshotContent);
  const snapshots = informers.for(VolumeSnapshot);
  const contents = informers.for(VolumeSnapshotContent);
  const claims = informers.for(PersistentVolumeClaim);
  const volumes = informers.for(PersistentVolume);
  informers.index(snapshots, snapshotIndexes);
  informers.index(claims, claimIndexes);
  const caches = { driver, client: informers.client, groups, groupContents, snapshots, contents, claims, volumes };
  const pipeline: Pipeline<Observed, Step, Status> = {
    gather: (key, signal) => gather(caches, key, signal),
    plan,
    perform: (step, observed, signal) => perform(context, observed, step, signal),
    async publish({ group }, status, events, signal) {
      for (const event of events) context.events.event(group, event);
      if (status) await publishStatus(context, group, status, signal);
    },
    failed(_observed, _plan, _step, error) {
      const message = shownError(error);
      const event = { type: "Warning" as const, reason: "GroupSnapshotContentCreationFailed", message: message ?? "" };
      return { status: undefined, events: message === undefined ? [] : [event] };
    },
  };
  return {
    name: "csi-group-snapshot",
    reconcile: runPipeline(pipeline, { clock, log, name: "csi-group-snapshot" }),
    sources: [
      watchInformer(groups),
      watchInformer(groupContents, ({ object: { spec } }) => {
        const { namespace = "", name } = spec.volumeGroupSnapshotRef;
        return name === undefined ? [] : [{ namespace, name }];
      }),
      watchInformer(snapshots, ({ object }) => {
        const owner = ownerOf(object);
        return owner ? [{ namespace: object.metadata.namespace ?? "", name: owner.name }] : [];
      }),
      // A group snapshot waits for its claims, and is kept while a claim is made of one of its snapshots.
      watchInformer(claims, ({ object }) =>
        groups
          .list(object.metadata.namespace)
          .filter(({ metadata, status }) => metadata.deletionTimestamp !== undefined || status?.readyToUse !== true)
          .map(keyOf),
      ),
    ],
    ready: (signal) =>
      Promise.all(
        [groups, groupContents, snapshots, contents, claims, volumes].map((each) => each.whenSynced(signal)),
      ).then(() => {}),
    concurrency: CONCURRENCY,
    clock,
    log,
  };
}

async function publishStatus(
  { informers }: Context,
  group: VolumeGroupSnapshot,
  status: NonNullable<Status>,
  signal: AbortSignal,
): Promise<void> {
  const wanted = { ...status, ...(status.error === undefined && group.status?.error && { error: null }) };
  if (JSON.stringify(wanted) === JSON.stringify(group.status)) return;
  const body = { metadata: { uid: group.metadata.uid }, status: wanted };
  const options = { subresource: "status", fieldManager, signal } as const;
  try {
    await informers.client.patch(VolumeGroupSnapshot, keyOf(group), { type: "merge", body }, options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
