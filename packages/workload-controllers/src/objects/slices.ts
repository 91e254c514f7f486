import { canonicalJson } from "@causeway/foundation";
import { EndpointSlice, isAlreadyExists, keyOf, type ObjectKey } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { targetOf, type Target } from "./claim.ts";
import type { Deletions } from "./deletions.ts";
import { suffixOf } from "./pod-template.ts";
import { fieldManager } from "./pipeline.ts";

/** What the two controllers that keep EndpointSlices have in common. */

/** Of EndpointSlices: the Service that they belong to. */
export const serviceLabel = "kubernetes.io/service-name";
/** Whose controller keeps the slice: others leave it alone. */
export const managerLabel = "endpointslice.kubernetes.io/managed-by";

/** What the plans about slices may return; each slice is whole, as it is to be stored. */
export type SliceStep =
  | { readonly type: "create-slice"; readonly slice: EndpointSlice }
  | { readonly type: "update-slice"; readonly slice: EndpointSlice }
  | { readonly type: "delete-slice"; readonly target: Target };

/** Equal for lists of the same ports. */
export function portsKey(ports: EndpointSlice["ports"] | null): string {
  return canonicalJson((ports ?? []).map((port) => canonicalJson(port)).toSorted());
}

/**
 * The first name of a fixed sequence that is not in `names`, which takes it: a create whose answer was lost meets its
 * own slice.
 */
export function freeName(prefix: string, seed: string, names: Set<string>): string {
  for (let slot = 0; ; slot++) {
    const name = prefix + suffixOf(`${seed}/${slot}`);
    if (names.has(name)) continue;
    names.add(name);
    return name;
  }
}

/** The uid of the slice is a precondition of its deletion. */
export function sliceDeletion(slice: EndpointSlice): SliceStep {
  return { type: "delete-slice", target: targetOf(slice) };
}

/** The Service of a slice that this manager keeps. */
export function serviceKeys({ metadata }: EndpointSlice, manager: string): ObjectKey[] {
  const name = metadata.labels?.[serviceLabel];
  if (name === undefined || metadata.labels?.[managerLabel] !== manager) return [];
  return [{ namespace: metadata.namespace ?? "", name }];
}

/** Writes a slice. Where one exists that the cache lacked, it reads it, and the next plan compares. */
export async function performSliceStep(
  { context: { informers }, deletions }: { readonly context: Context; readonly deletions: Deletions },
  step: SliceStep,
  signal: AbortSignal,
): Promise<void> {
  const { client } = informers;
  const options = { fieldManager, signal };
  switch (step.type) {
    case "create-slice":
      try {
        await client.create(EndpointSlice, step.slice, options);
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        informers.for(EndpointSlice).observe(await client.get(EndpointSlice, keyOf(step.slice), { signal }));
      }
      return;
    case "update-slice":
      await client.update(EndpointSlice, step.slice, options);
      return;
    case "delete-slice":
      await deletions.perform(EndpointSlice, step.target, signal);
      return;
  }
}
