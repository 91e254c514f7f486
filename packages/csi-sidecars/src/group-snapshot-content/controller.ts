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
import { VolumeGroupSnapshot, VolumeGroupSnapshotContent } from "../group-snapshot-objects.ts";
import { groupContentNameOf } from "../group-snapshot/gather.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan, type Status } from "./plan.ts";
import type { Step } from "./steps.ts";

/** What csi-snapshotter does for group snapshots. Keys are names of VolumeGroupSnapshotContents. */
export function groupSnapshotContentController(context: Context): ControllerOptions {
  const { clock, log, informers, driver } = context;
  const groups = informers.for(VolumeGroupSnapshot);
  const contents = informers.for(VolumeGroupSnapshotContent);
  const readAt = new Map<string, number>();
  const pipeline: Pipeline<Observed, Step, Status> = {
    gather: (key) => Promise.resolve(gather({ driver, groups, contents, readAt }, key)),
    plan,
    perform: (step, observed, signal) => perform({ context, readAt }, observed, step, signal),
    publish: ({ content }, failure, _events, signal) => publishFailure(context, content, failure, signal),
    failed: (_observed, _plan, _step, error) => ({ status: shownError(error), events: [] }),
  };
  return {
    name: "csi-group-snapshot-content",
    reconcile: runPipeline(pipeline, { clock, log, name: "csi-group-snapshot-content" }),
    sources: [
      watchInformer(contents, ({ type, object }) => {
        if (type === "deleted") readAt.delete(object.metadata.uid ?? "");
        return [keyOf(object)];
      }),
      watchInformer(groups, ({ object }) => [{ namespace: "", name: groupContentNameOf(object) }]),
    ],
    ready: (signal) => Promise.all([groups, contents].map((each) => each.whenSynced(signal))).then(() => {}),
    concurrency: CONCURRENCY,
    clock,
    log,
  };
}

async function publishFailure(
  { informers, clock }: Context,
  content: VolumeGroupSnapshotContent,
  message: Status,
  signal: AbortSignal,
): Promise<void> {
  if (message === undefined || content.status?.error?.message === message) return;
  const error = { message, time: new Date(clock.now()).toISOString() };
  const body = { metadata: { uid: content.metadata.uid }, status: { readyToUse: false, error } };
  const options = { subresource: "status", fieldManager, signal } as const;
  try {
    await informers.client.patch(VolumeGroupSnapshotContent, keyOf(content), { type: "merge", body }, options);
  } catch (failure) {
    if (!isNotFound(failure)) throw failure;
  }
}
