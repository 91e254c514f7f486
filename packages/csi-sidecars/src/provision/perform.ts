import type { CreateVolumeResponse } from "@causeway/csi";
import { CausewayError } from "@causeway/foundation";
import {
  isAlreadyExists,
  keyOf,
  PersistentVolume,
  PersistentVolumeClaim,
  type CsiVolumeSource,
  type VolumeNodeSelector,
} from "@causeway/kubernetes";
import { callOptions, fieldManager, type Context } from "../context.ts";
import { isExhausted, isFinal } from "../errors.ts";
import { annotation, IDENTITY, PROVISIONER_FINALIZER } from "../names.ts";
import { quantityOfBytes } from "../quantity.ts";
import { pendingKey, type Observed } from "./gather.ts";
import type { CreateRequest, Step, VolumeTemplate } from "./steps.ts";

/** The context, and the requests whose outcome is not known; see `Caches`. */
export interface PerformContext {
  readonly context: Context;
  readonly pending: Map<string, CreateRequest>;
  /** Of the reconciled claim. */
  readonly key: string;
}

/**
 * Performs one step of a claim, as csi-provisioner does. A request remains in `pending` until its outcome is known, so
 * that no
 * volume is orphaned.
 */
export async function perform(
  performing: PerformContext,
  { claim }: Observed,
  step: Step,
  signal: AbortSignal,
): Promise<void> {
  switch (step.type) {
    case "provision":
      if (claim) await provision(performing, claim, step, signal);
      return;
    case "abandon":
      return abandon(performing, step.request, signal);
  }
}

type Volume = NonNullable<CreateVolumeResponse["volume"]>;

async function provision(
  { context, pending }: PerformContext,
  claim: PersistentVolumeClaim,
  { request, template }: Extract<Step, { type: "provision" }>,
  signal: AbortSignal,
): Promise<void> {
  const { client } = context.informers;
  const key = pendingKey({ namespace: claim.metadata.namespace ?? "", name: claim.metadata.name });
  pending.set(key, request);
  const volume = await create(context, request, signal).catch(async (error: unknown) => {
    if (isFinal(error)) pending.delete(key);
    if (isExhausted(error)) await reschedule(context, claim, signal);
    throw error;
  });
  const fresh = await client.find(PersistentVolumeClaim, keyOf(claim), { signal });
  // The claim was deleted meanwhile: the plan of a claim that is gone deletes the volume.
  if (fresh?.metadata.uid !== claim.metadata.uid) return;
  const object = volumeObject(context, template, volume);
  try {
    await client.create(PersistentVolume, object, { fieldManager, signal });
  } catch (error) {
    // The name has the claim's uid: an earlier attempt created it.
    if (!isAlreadyExists(error)) throw error;
    const found = await client.find(PersistentVolume, keyOf(object), { signal });
    if (found) context.informers.for(PersistentVolume).observe(found);
  }
  pending.delete(key);
  const message = `Successfully provisioned volume ${object.metadata.name}`;
  context.events.event(claim, { type: "Normal", reason: "ProvisioningSucceeded", message });
}

async function create({ driver }: Context, request: CreateRequest, signal: AbortSignal): Promise<Volume> {
  const { volume } = await driver.controller.createVolume(request, callOptions(signal));
  if (volume) return volume;
  throw new CausewayError("CSI_RESPONSE_INVALID", `The driver ${driver.name} returned no volume.`);
}

/** The scheduler chooses another node: the zone of this one has no room. */
async function reschedule({ informers }: Context, claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void> {
  if (claim.metadata.annotations?.[annotation.selectedNode] === undefined) return;
  const { uid, resourceVersion } = claim.metadata;
  const body = { metadata: { uid, resourceVersion, annotations: { [annotation.selectedNode]: null } } };
  await informers.client.patch(PersistentVolumeClaim, keyOf(claim), { type: "merge", body }, { fieldManager, signal });
}

async function abandon(
  { context, pending, key }: PerformContext,
  request: CreateRequest,
  signal: AbortSignal,
): Promise<void> {
  const { controller, secrets = {} } = context.driver;
  const volume = await create(context, request, signal).catch((error: unknown) => {
    if (isFinal(error)) return undefined;
    throw error;
  });
  if (volume) {
    await controller.deleteVolume({ volumeId: volume.volumeId, secrets: { ...secrets } }, callOptions(signal));
    context.log.info("deleted a volume whose claim was deleted before it was bound", { volume: volume.volumeId });
  }
  if (pending.get(key)?.name === request.name) pending.delete(key);
}

function volumeObject(
  { driver }: Context,
  { metadata, spec, fsType }: VolumeTemplate,
  volume: Volume,
): PersistentVolume {
  const csi: CsiVolumeSource = {
    driver: driver.name,
    volumeHandle: volume.volumeId,
    ...(fsType !== undefined && { fsType }),
    volumeAttributes: { ...volume.volumeContext, [IDENTITY]: `${driver.name}-causeway` },
  };
  const required = affinityOf(volume);
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { ...metadata, annotations: { ...metadata.annotations }, finalizers: [PROVISIONER_FINALIZER] },
    spec: {
      ...spec,
      capacity: { storage: quantityOfBytes(volume.capacityBytes) },
      csi,
      ...(required && { nodeAffinity: { required } }),
    },
  };
}

function affinityOf({ accessibleTopology }: Volume): VolumeNodeSelector | undefined {
  if (accessibleTopology.length === 0) return undefined;
  return {
    nodeSelectorTerms: accessibleTopology.map(({ segments }) => ({
      matchExpressions: Object.entries(segments)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, value]) => ({ key, operator: "In", values: [value] })),
    })),
  };
}
