import {
  runPipeline,
  isNotFound,
  keyOf,
  watchInformer,
  type ControllerOptions,
  type Pipeline,
} from "@causeway/kubernetes";
import { CONCURRENCY, fieldManager, type Context } from "../context.ts";
import { shownError } from "../errors.ts";
import { VolumeSnapshot, VolumeSnapshotContent } from "../snapshot-objects.ts";
import { contentNameOf } from "../snapshot/gather.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan, type Status } from "./plan.ts";
import type { Step } from "./steps.ts";

/** What csi-snapshotter does. Keys are names of VolumeSnapshotContents. */
export function snapshotContentController(context: Context): ControllerOptions {
  const { clock, log, informers, driver } = context;
  const snapshots = informers.for(VolumeSnapshot);
  const contents = informers.for(VolumeSnapshotContent);
  const readAt = new Map<string, number>();
  const pipeline: Pipeline<Observed, Step, Status> = {
    gather: (key) => Promise.resolve(gather({ driver, snapshots, contents, readAt }, key)),
    plan,
    perform: (step, observed, signal) => perform({ context, readAt }, observed, step, signal),
    publish: ({ content }, failure, _events, signal) => publishFailure(context, content, failure, signal),
    failed: (_observed, _plan, _step, error) => ({ status: shownError(error), events: [] }),
  };
  return {
    name: "csi-snapshot-content",
    reconcile: runPipeline(pipeline, { clock, log, name: "csi-snapshot-content" }),
    sources: [
      watchInformer(contents, ({ type, object }) => {
        if (type === "deleted") readAt.delete(object.metadata.uid ?? "");
        return [keyOf(object)];
      }),
      watchInformer(snapshots, ({ object }) => [{ namespace: "", name: contentNameOf(object) }]),
    ],
    ready: (signal) => Promise.all([snapshots, contents].map((each) => each.whenSynced(signal))).then(() => {}),
    concurrency: CONCURRENCY,
    clock,
    log,
  };
}

async function publishFailure(
  { informers, clock }: Context,
  content: VolumeSnapshotContent,
  message: Status,
  signal: AbortSignal,
): Promise<void> {
  if (message === undefined || content.status?.error?.message === message) return;
  const error = { message, time: new Date(clock.now()).toISOString() };
  const body = { metadata: { uid: content.metadata.uid }, status: { readyToUse: false, error } };
  const options = { subresource: "status", fieldManager, signal } as const;
  try {
    await informers.client.patch(VolumeSnapshotContent, keyOf(content), { type: "merge", body }, options);
  } catch (failure) {
    if (!isNotFound(failure)) throw failure;
  }
}
