import type { TopologyRequirement } from "@causeway/csi";

/** The zone of a topology key that is preferred first, else the first that is possible. */
export function zoneOf(topology: TopologyRequirement | undefined, key: string): string | undefined {
  const all = [...(topology?.preferred ?? []), ...(topology?.requisite ?? [])];
  return all.map(({ segments }) => segments[key]).find((zone) => zone !== undefined && zone !== "");
}

/** A zone's name as a label's value: what labels do not allow becomes "-", and 63 characters are kept. */
export function labelValue(zone: string): string {
  const allowed = zone.replaceAll(/[^-\w.]+/g, "-");
  return allowed
    .replace(/^[-_.]+/, "")
    .slice(0, 63)
    .replace(/[-_.]+$/, "");
}
