import type { MagnumNodeGroup } from "@causeway/api";
import { isTrue } from "./label-rule.ts";

type Labels = Readonly<Record<string, string>>;

/** Bounds that labels give an autoscaler. */
export interface LabelBounds {
  readonly min: number;
  readonly max: number | undefined;
}

/** The bounds within which an autoscaler decides by these labels, which were accepted; undefined: none does. */
export function labelBounds(labels: Labels): LabelBounds | undefined {
  if (!isTrue(labels["auto_scaling_enabled"])) return undefined;
  const number = (name: string) => (labels[name] ? Number(labels[name]) : undefined);
  return { min: number("min_node_count") ?? 1, max: number("max_node_count") };
}

/**
 * The bounds of a group that is scaled automatically; undefined: it is not. A maximum below the minimum would end the
 * autoscaler's work for all groups; and what has no node it does not scale: the last one remains.
 */
export function scalingBounds(
  group: MagnumNodeGroup,
  clusterLabels: Labels,
): { readonly min: number; readonly max: number } | undefined {
  const given = labelBounds(group.labels ?? clusterLabels);
  if (given === undefined) return undefined;
  const min = Math.max(group.minNodeCount, given.min, 1);
  return { min, max: Math.max(group.maxNodeCount ?? given.max ?? group.nodeCount, min) };
}

/**
 * What a group may come to without another request: where an autoscaler decides, its maximum, if it is not above it.
 */
export function mostNodes(group: MagnumNodeGroup, clusterLabels: Labels): number {
  return Math.max(group.nodeCount, scalingBounds(group, clusterLabels)?.max ?? 0);
}
