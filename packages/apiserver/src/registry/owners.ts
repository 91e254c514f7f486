import type { OwnerReference } from "@causeway/kubernetes";
import { canonicalJson } from "@causeway/foundation";
import type { Draft } from "../contract/resource.ts";
import type { Call } from "../contract/call.ts";

/** Whether the references were twice in what was sent, or only in what a patch or admission made of it. */
type When = "sent" | "made";

const PROMISE =
  "API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests";

/** Leaves each owner once and warns of the others. Changes the draft in place. */
export function dedupOwners(call: Call, { metadata }: Draft, when: When): void {
  const owners = metadata.ownerReferences;
  if (!Array.isArray(owners) || owners.length < 2) return;
  const kept = new Map<string, OwnerReference>();
  const twice: string[] = [];
  for (const owner of owners) {
    const key = canonicalJson(owner);
    if (kept.has(key)) twice.push(owner.uid);
    else kept.set(key, owner);
  }
  if (twice.length === 0) return;
  metadata.ownerReferences = [...kept.values()];
  const where = when === "made" ? " after mutating admission happens" : "";
  const duplicates = `duplicate UID(s) observed: ${twice.join(", ")}`;
  call.warn(`.metadata.ownerReferences contains duplicate entries${where}; ${PROMISE}; ${duplicates}`);
}
