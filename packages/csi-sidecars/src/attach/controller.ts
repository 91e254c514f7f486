import {
  CSINode,
  runPipeline,
  isNotFound,
  keyOf,
  PersistentVolume,
  removeFinalizer,
  timestamp,
  VolumeAttachment,
  watchInformer,
  type ControllerOptions,
  type ObjectKey,
  type Pipeline,
} from "@causeway/kubernetes";
import { CONCURRENCY, fieldManager, type Context } from "../context.ts";
import { shownError } from "../errors.ts";
import { attacherFinalizer } from "../names.ts";
import { attachmentIndexes, index, isSameRegistration } from "../indexes.ts";
import { gather, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan, type Status } from "./plan.ts";
import type { Step } from "./steps.ts";

/** What csi-attacher does. Keys are names of VolumeAttachments. */
export function attachController(context: Context): ControllerOptions {
  const { clock, log, informers, driver } = context;
  const attachments = informers.for(VolumeAttachment);
  const volumes = informers.for(PersistentVolume);
  const csiNodes = informers.for(CSINode);
  informers.index(attachments, attachmentIndexes);
  const caches = { driver, attachments, volumes, csiNodes };
  const pipeline: Pipeline<Observed, Step, Status> = {
    gather: (key) => Promise.resolve(gather(caches, key)),
    plan,
    perform: (step, observed, signal) => perform(context, observed, step, signal),
    publish: ({ attachment }, failure, _events, signal) => publishFailure(context, attachment, failure, signal),
    failed({ attachment }, _plan, _step, error) {
      const message = shownError(error);
      const kind = attachment.metadata.deletionTimestamp === undefined ? "attach" : "detach";
      return { status: message === undefined ? undefined : { kind, message }, events: [] };
    },
  };
  const ofVolume = (name: string): ObjectKey[] => attachments.byIndex(index.ofVolume, name).map(keyOf);
  const finalizer = attacherFinalizer(driver.name);
  /** A volume that is deleted while nothing attaches it has no attachment whose end would release it. */
  const releaseVolume = async (volume: PersistentVolume): Promise<void> => {
    const { deletionTimestamp, finalizers = [], name } = volume.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes(finalizer) || ofVolume(name).length > 0) return;
    await removeFinalizer(informers.client, PersistentVolume, volume, { finalizer }).catch((error: unknown) =>
      log.warn("a volume's finalizer is not removed yet", { volume: name, error: String(error) }),
    );
  };
  return {
    name: "csi-attach",
    reconcile: runPipeline(pipeline, { clock, log, name: "csi-attach" }),
    sources: [
      watchInformer(attachments, ({ type, object }) => {
        const volume = volumes.get({ namespace: "", name: object.spec.source.persistentVolumeName ?? "" });
        if (type === "deleted" && volume) void releaseVolume(volume);
        return [keyOf(object)];
      }),
      watchInformer(volumes, ({ object }) => {
        void releaseVolume(object);
        return ofVolume(object.metadata.name);
      }),
      watchInformer(csiNodes, ({ object, previous }) => {
        if (isSameRegistration(driver.name, object, previous)) return [];
        const isWaiting = ({ spec, status }: VolumeAttachment) =>
          spec.nodeName === object.metadata.name && status?.attached !== true;
        return attachments.list().filter(isWaiting).map(keyOf);
      }),
    ],
    ready: (signal) =>
      Promise.all([attachments, volumes, csiNodes].map((each) => each.whenSynced(signal))).then(() => {}),
    concurrency: CONCURRENCY,
    clock,
    log,
  };
}

async function publishFailure(
  { informers, clock }: Context,
  attachment: VolumeAttachment,
  failure: Status,
  signal: AbortSignal,
): Promise<void> {
  if (!failure) return;
  const field = failure.kind === "attach" ? "attachError" : "detachError";
  if (attachment.status?.[field]?.message === failure.message) return;
  const { uid } = attachment.metadata;
  const attached = attachment.status?.attached ?? false;
  const status = { attached, [field]: { time: timestamp(clock.now()), message: failure.message } };
  const options = { subresource: "status", fieldManager, signal } as const;
  try {
    const body = { metadata: { uid }, status };
    await informers.client.patch(VolumeAttachment, keyOf(attachment), { type: "merge", body }, options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
