import { CausewayError } from "@causeway/foundation";
import type { SharedFileSystem } from "@causeway/openstack";

/** "10.0.0.10:/shares/a": an address and a path. */
export interface Place {
  readonly address: string;
  readonly path: string;
}

/** Undefined where the location has no address or no path. */
export function placeOf(location: string): Place | undefined {
  const at = location.lastIndexOf(":");
  const [address, path] = [location.slice(0, Math.max(at, 0)).trim(), location.slice(at + 1).trim()];
  return at > 0 && path !== "" ? { address, path } : undefined;
}

/**
 * The preferred location that fits, else the first. Those of administrators are never used. Throws
 * CSI_INVALID_ARGUMENT.
 */
export function chooseLocation(
  locations: readonly SharedFileSystem.ExportLocation[],
  fits: (place: Place) => boolean = () => true,
): Place {
  const usable = locations.flatMap(({ path, preferred = false, is_admin_only = false }) => {
    const place = is_admin_only ? undefined : placeOf(path);
    return place && fits(place) ? [{ place, preferred }] : [];
  });
  const chosen = usable.find(({ preferred }) => preferred) ?? usable[0];
  if (chosen) return chosen.place;
  const paths = locations.map(({ path }) => path).join(", ") || "none";
  throw new CausewayError("CSI_INVALID_ARGUMENT", `No export location of the share can be used; it has ${paths}.`, {
    hint: "Check nfs.matchExportLocationAddress in the runtime configuration, and `openstack share export location list`.",
  });
}
