import { Machine } from "@causeway/api";
import { isNotFound, publishStatus, type Condition, type KubeObject, type ResourceType } from "@causeway/kubernetes";
import type { Context } from "../objects/context.ts";
import { createOnce, performWrite } from "../objects/pipeline.ts";
import type { MachineSetStep } from "./steps.ts";

/** Owns the condition OwnerRemediated of Machines that wait. */
const remediationManager = "causeway-machineset-remediation";

/** Creates under way at once, for one set. */
const atOnce = 16;

/** Does one step; creates that have begun are finished before an error is thrown. */
export async function perform(context: Context, step: MachineSetStep, signal: AbortSignal): Promise<void> {
  if (step.type === "set-conditions") return setConditions(context, step, signal);
  if (step.type === "create-machines") return createAll(context, { resource: Machine, objects: step.machines }, signal);
  if (step.type === "create-clones") return createAll(context, { resource: step.kind, objects: step.objects }, signal);
  return performWrite(context, step, signal);
}

/** Creates that were started are finished before an error is reported, so that the next reconcile sees all objects. */
async function createAll(
  context: Context,
  what: { readonly resource: ResourceType<KubeObject>; readonly objects: readonly KubeObject[] },
  signal: AbortSignal,
): Promise<void> {
  for (let start = 0; start < what.objects.length; start += atOnce) {
    const batch = what.objects.slice(start, start + atOnce);
    const results = await Promise.allSettled(
      batch.map((object) => createOnce(context, { resource: what.resource, object }, signal)),
    );
    const failed = results.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
  }
}

async function setConditions(
  context: Context,
  { machine, conditions }: { readonly machine: Machine; readonly conditions: readonly Condition[] },
  signal: AbortSignal,
): Promise<void> {
  const options = { status: { conditions }, fieldManager: remediationManager, signal };
  try {
    await publishStatus(context.informers.client, Machine, machine, options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
