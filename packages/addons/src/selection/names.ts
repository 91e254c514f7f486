import { createHash } from "node:crypto";
import type { AddonSet } from "@causeway/api";

/** The AddonSet of one selected cluster. The hash keeps names apart, whatever dashes they have. */
export function nameFor(set: string, cluster: string): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([set, cluster]))
    .digest("hex")
    .slice(0, 8);
  return `${set.slice(0, 25)}-${cluster.slice(0, 28)}-${hash}`;
}

/** Was it made for this selecting AddonSet? */
export function isMadeFor({ metadata }: AddonSet, { metadata: { uid } }: AddonSet): boolean {
  return uid !== undefined && metadata.ownerReferences?.some((each) => each.uid === uid && each.controller) === true;
}
