import { neutronError } from "../errors.ts";

/** OVN's chassis name no zones here, so no hint can be met: 404 as the real service. */
export function checkZoneHints(hints: readonly string[]): readonly string[] {
  const zone = hints[0];
  if (zone === undefined) return [];
  throw neutronError(404, "AvailabilityZoneNotFound", `AvailabilityZone ${zone} could not be found.`);
}
