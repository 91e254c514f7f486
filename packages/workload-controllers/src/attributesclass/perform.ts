import { addFinalizer, removeFinalizer, VolumeAttributesClass } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { attributesClassFinalizer as finalizer } from "../objects/storage.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** Adds or removes the finalizer `kubernetes.io/vac-protection`. */
export async function perform(
  { informers: { client } }: Context,
  { attributesClass }: Observed,
  { type }: Step,
  signal: AbortSignal,
): Promise<void> {
  const write = type === "protect" ? addFinalizer : removeFinalizer;
  await write(client, VolumeAttributesClass, attributesClass, { finalizer, signal });
}
