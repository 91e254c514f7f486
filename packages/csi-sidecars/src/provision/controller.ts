import {
  CSINode,
  runPipeline,
  isNotFound,
  keyOf,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  watchInformer,
  type ControllerOptions,
  type ObjectKey,
  type Pipeline,
} from "@causeway/kubernetes";
import { CONCURRENCY, type Context } from "../context.ts";
import { shownError } from "../errors.ts";
import { claimIndexes, index, isSameRegistration } from "../indexes.ts";
import { attributesClass } from "../modify/gather.ts";
import { VolumeSnapshot, VolumeSnapshotContent } from "../snapshot-objects.ts";
import { gather, pendingKey, type Caches, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { CreateRequest, Step } from "./steps.ts";

/** What csi-provisioner does for claims. Keys are those of claims. */
export function provisionController(context: Context): ControllerOptions {
  const { clock, log, informers, driver } = context;
  const claims = informers.for(PersistentVolumeClaim);
  const volumes = informers.for(PersistentVolume);
  const storageClasses = informers.for(StorageClass);
  const nodes = informers.for(Node);
  const csiNodes = informers.for(CSINode);
  const pending = new Map<string, CreateRequest>();
  const snapshotHandle = (key: ObjectKey, signal: AbortSignal) => handleOf(context, key, signal);
  const attributes = (name: string, signal: AbortSignal) => attributesClass(informers.client, name, signal);
  const caches: Caches = {
    attributesClass: attributes,
    driver,
    claims,
    volumes,
    storageClasses,
    nodes,
    csiNodes,
    places: new WeakMap(),
    pending,
    snapshotHandle,
  };
  const keys = new WeakMap<Observed, string>();
  const pipeline: Pipeline<Observed, Step, undefined> = {
    async gather(key, signal) {
      const observed = await gather(caches, key, signal);
      if (observed) keys.set(observed, pendingKey(key));
      return observed;
    },
    plan,
    perform: (step, observed, signal) =>
      perform({ context, pending, key: keys.get(observed) ?? "" }, observed, step, signal),
    publish({ claim }, _status, events) {
      if (claim) for (const event of events) context.events.event(claim, event);
      return Promise.resolve();
    },
    failed({ storageClass }, _plan, _step, error) {
      const shown = shownError(error);
      const message = `failed to provision volume with StorageClass "${storageClass?.metadata.name ?? ""}": ${shown}`;
      return {
        status: undefined,
        events: shown === undefined ? [] : [{ type: "Warning", reason: "ProvisioningFailed", message }],
      };
    },
  };
  informers.index(claims, claimIndexes);
  const unbound = (): ObjectKey[] => claims.byIndex(index.unbound, "").map(keyOf);
  return {
    name: "csi-provision",
    reconcile: runPipeline(pipeline, { clock, log, name: "csi-provision" }),
    sources: [
      watchInformer(claims),
      watchInformer(storageClasses, ({ type }) => (type === "deleted" ? [] : unbound())),
      watchInformer(csiNodes, ({ type, object, previous }) =>
        type === "deleted" || isSameRegistration(driver.name, object, previous) ? [] : unbound(),
      ),
    ],
    ready: (signal) =>
      Promise.all([claims, volumes, storageClasses, nodes, csiNodes].map((each) => each.whenSynced(signal))).then(
        () => {},
      ),
    concurrency: CONCURRENCY,
    clock,
    log,
  };
}

/** The ID of a VolumeSnapshot's snapshot, or why there is none. The CRDs may be missing. */
async function handleOf({ informers, driver }: Context, key: ObjectKey, signal: AbortSignal) {
  const { client } = informers;
  try {
    const snapshot = await client.find(VolumeSnapshot, key, { signal });
    const name = snapshot?.status?.boundVolumeSnapshotContentName;
    if (!name || snapshot?.status?.readyToUse !== true) return `snapshot ${key.name} is not ready to use`;
    const content = await client.find(VolumeSnapshotContent, { namespace: "", name }, { signal });
    if (content && content.spec.driver !== driver.name)
      return `snapshot ${key.name} is of driver ${content.spec.driver}`;
    const id = content?.status?.snapshotHandle;
    return id === undefined ? `snapshot ${key.name} has no handle` : { id };
  } catch (error) {
    if (isNotFound(error)) return "the cluster has no VolumeSnapshots";
    throw error;
  }
}
