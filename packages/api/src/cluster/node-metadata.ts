import { createHash } from "node:crypto";
import { annotations } from "../names.ts";
import type { Machine } from "./machine.ts";

/** Condition of a Machine whose Node has the labels and taints that the message represents; see `nodeMetadataOf`. */
export const nodeMetadataApplied = "NodeMetadataApplied";

/**
 * A short text that represents the labels by annotation causeway.dev/node-labels and the taints that a Machine has for
 * its Node. Undefined: it has none.
 */
export function nodeMetadataOf({ metadata, spec }: Machine): string | undefined {
  const labels = metadata.annotations?.[annotations.nodeLabels];
  const taints = (spec.taints ?? []).map(({ key, value = "", effect, propagation }) => [
    key,
    value,
    effect,
    propagation,
  ]);
  if (labels === undefined && taints.length === 0) return undefined;
  const text = JSON.stringify([labels ?? null, taints]);
  return `labels and taints ${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
}
