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
import { VolumeSnapshot, VolumeSnapshotContent } from "../snapshot-objects.ts";
import { VolumeGroupSnapshot } from "../group-snapshot-objects.ts";
import { claimIndexes, index, nameInNamespace, snapshotIndexes, sourceSnapshot } from "../indexes.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan, type Status } from "./plan.ts";
import type { Step } from "./steps.ts";

/** What snapshot-controller does for snapshots of this driver. Keys are those of VolumeSnapshots. */
export function snapshotController(context: Context): ControllerOptions {
  const { clock, log, informers, driver } = context;
  const snapshots = informers.for(VolumeSnapshot);
  const contents = informers.for(VolumeSnapshotContent);
  const claims = informers.for(PersistentVolumeClaim);
  const volumes = informers.for(PersistentVolume);
  const groups = driver.groupController && informers.for(VolumeGroupSnapshot);
  informers.index(snapshots, snapshotIndexes);
  informers.index(claims, claimIndexes);
  const caches = { driver, client: informers.client, snapshots, contents, claims, volumes, groups };
  const pipeline: Pipeline<Observed, Step, Status> = {
    gather: (key, signal) => gather(caches, key, signal),
    plan,
    perform: (step, observed, signal) => perform(context, observed, step, signal),
    async publish({ snapshot }, status, events, signal) {
      for (const event of events) context.events.event(snapshot, event);
      if (status) await publishStatus(context, snapshot, status, signal);
    },
    failed(_observed, _plan, _step, error) {
      const message = shownError(error);
      const event = { type: "Warning" as const, reason: "SnapshotContentCreationFailed", message: message ?? "" };
      return { status: undefined, events: message === undefined ? [] : [event] };
    },
  };
  return {
    name: "csi-snapshot",
    reconcile: runPipeline(pipeline, { clock, log, name: "csi-snapshot" }),
    sources: [
      watchInformer(snapshots),
      watchInformer(contents, ({ object: { spec } }) => {
        const { namespace = "", name } = spec.volumeSnapshotRef;
        return name === undefined ? [] : [{ namespace, name }];
      }),
      // Its members are deleted with a group snapshot.
      ...(groups
        ? [
            watchInformer(groups, ({ object }) =>
              snapshots.byIndex(index.ofGroup, object.metadata.uid ?? "").map(keyOf),
            ),
          ]
        : []),
      // A snapshot waits for its claim, and is kept while a claim is made of it.
      watchInformer(claims, ({ object }) => {
        const taken = snapshots.byIndex(index.ofClaim, nameInNamespace(object)).map(keyOf);
        if (sourceSnapshot(object) === undefined) return taken;
        const { namespace = "" } = object.metadata;
        const { name = "" } = object.spec.dataSourceRef ?? object.spec.dataSource ?? {};
        return [...taken, { namespace, name }];
      }),
    ],
    ready: (signal) =>
      Promise.all([snapshots, contents, claims, volumes].map((each) => each.whenSynced(signal))).then(() => {}),
    concurrency: CONCURRENCY,
    clock,
    log,
  };
}

async function publishStatus(
  { informers }: Context,
  snapshot: VolumeSnapshot,
  status: NonNullable<Status>,
  signal: AbortSignal,
): Promise<void> {
  const wanted = { ...status, ...(status.error === undefined && snapshot.status?.error && { error: null }) };
  if (JSON.stringify(wanted) === JSON.stringify(snapshot.status)) return;
  const body = { metadata: { uid: snapshot.metadata.uid }, status: wanted };
  const options = { subresource: "status", fieldManager, signal } as const;
  try {
    await informers.client.patch(VolumeSnapshot, keyOf(snapshot), { type: "merge", body }, options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
