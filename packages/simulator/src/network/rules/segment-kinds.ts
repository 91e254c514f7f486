import { invalidInput } from "../errors.ts";
import type { NetworkState } from "../model.ts";

/** What a segment is made of, as a network's provider attributes have it. */
export interface SegmentKind {
  readonly network_type: string;
  readonly physical_network: string | null;
  readonly segmentation_id: number | null;
}

const types = ["flat", "geneve", "local", "vlan", "vxlan"];

/** Throws 400 for a kind of network, or a place, that this cloud does not support. */
export function checkSegment({
  network_type: type,
  physical_network: physical,
  segmentation_id: id,
}: SegmentKind): void {
  if (!types.includes(type)) throw invalidInput(`network_type value '${type}' not supported.`);
  if (type === "local") {
    const given = Object.entries({ physical_network: physical, segmentation_id: id }).find(([, value]) => value);
    if (given) throw invalidInput(`${given[0]} prohibited for local provider network.`);
  }
  if (type !== "flat" && type !== "vlan") return;
  if (!physical && type === "flat") throw invalidInput("physical_network required for flat provider network.");
  if (physical && physical !== "public") {
    throw invalidInput(`physical_network '${physical}' unknown for ${type} provider network.`);
  }
}

/** True if segments of the type have numbers. */
export const numbered = (type: string): boolean => type !== "flat" && type !== "local";

/** A number that no segment has, nor a network from before there were segments. */
export function nextSegment({ networks, segments }: NetworkState): number {
  const top = networks.all().reduce((most, row) => Math.max(most, row["provider:segmentation_id"] ?? 0), 0);
  return segments.all().reduce((most, row) => Math.max(most, row.segmentation_id ?? 0), top) + 1;
}
