import type { AddonSet, AddonSetStatus } from "@causeway/api";

/** What the status says of an add-on; undefined if it says nothing. */
export function statusOf(set: AddonSet, addon: string): NonNullable<AddonSetStatus["addons"]>[number] | undefined {
  return set.status?.addons?.find(({ name }) => name === addon);
}
