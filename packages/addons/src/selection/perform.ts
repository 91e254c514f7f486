import { AddonSet } from "@causeway/api";
import { addFinalizer, isAlreadyExists, removeFinalizer, type KubernetesClient } from "@causeway/kubernetes";
import type { Observed } from "./gather.ts";
import { isMadeFor } from "./names.ts";
import { finalizer } from "./plan.ts";
import type { Step } from "./steps.ts";

/** The manager of AddonSets that are made for single clusters. */
export const fieldManager = "causeway-addons-selection";

/** Does one step. "deferred": the AddonSet to create exists, and the cache does not show it yet. */
export async function perform(
  { client }: { readonly client: KubernetesClient },
  step: Step,
  observed: Observed,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  switch (step.type) {
    case "add-finalizer":
      await addFinalizer(client, AddonSet, observed.set, { finalizer, signal });
      return;
    case "remove-finalizer":
      await removeFinalizer(client, AddonSet, observed.set, { finalizer, signal });
      return;
    case "apply":
      return apply(client, step.set, observed, signal);
    case "delete": {
      const { namespace = "", name, uid } = step.set.metadata;
      const preconditions = uid === undefined ? {} : { preconditions: { uid } };
      await client.delete(AddonSet, { namespace, name }, { ...preconditions, signal });
      return;
    }
  }
}

/** Created, not applied, when there is none: an apply would take over what another one made in the meantime. */
async function apply(
  client: KubernetesClient,
  set: AddonSet,
  { made, set: selecting }: Observed,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const live = made.find(({ metadata }) => metadata.name === set.metadata.name);
  if (live !== undefined) {
    const { uid } = live.metadata;
    const metadata = { ...set.metadata, ...(uid === undefined ? {} : { uid }) };
    await client.apply(AddonSet, { ...set, metadata }, { fieldManager, force: true, signal });
    return undefined;
  }
  try {
    await client.create(AddonSet, set, { fieldManager, signal });
    return undefined;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const { namespace = "", name } = set.metadata;
    const found = await client.find(AddonSet, { namespace, name }, { signal });
    // The informer brings it: one of an earlier attempt, or one that the plan reports.
    return found === undefined || isMadeFor(found, selecting) ? undefined : "deferred";
  }
}
