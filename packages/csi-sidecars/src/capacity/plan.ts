import { createHash } from "node:crypto";
import { canonicalJson } from "@causeway/foundation";
import type { Plan } from "@causeway/kubernetes";
import { quantityOfBytes } from "../quantity.ts";
import type { Observed, Place } from "./gather.ts";
import { DRIVER_LABEL, MANAGED_BY_LABEL, MANAGER, NAMESPACE, type CSIStorageCapacity } from "./object.ts";
import type { Step } from "./steps.ts";

/** csi-provisioner's --capacity-poll-interval. */
const AGAIN = 60_000;

/** One object for each late-binding class and topology segment. One that cannot be read now remains as it is. */
export function plan({ driver, places, existing }: Observed, now: number): Plan<Step, undefined> {
  const byPlace = new Map(existing.map((object) => [placeIdOf(object), object]));
  const wanted = new Set(places.map(placeId));
  const kept = new Set(byPlace.values());
  const steps = places.flatMap((place) => stepsOf(driver, place, byPlace.get(placeId(place))));
  const surplus = existing.filter((object) => !kept.has(object) || !wanted.has(placeIdOf(object)));
  return {
    steps: [...surplus.map((object): Step => ({ type: "delete", object })), ...steps],
    status: undefined,
    wait: { for: "the next reading of the capacities", until: now + AGAIN },
  };
}

function stepsOf(driver: string, place: Place, found: CSIStorageCapacity | undefined): readonly Step[] {
  const { capacity } = place;
  if (!capacity) return [];
  const sizes = {
    capacity: quantityOfBytes(capacity.available),
    ...(capacity.largest !== undefined && { maximumVolumeSize: quantityOfBytes(capacity.largest) }),
  };
  if (!found) return [{ type: "create", object: { ...objectOf(driver, place), ...sizes } }];
  if (found.capacity === sizes.capacity && found.maximumVolumeSize === sizes.maximumVolumeSize) return [];
  const { maximumVolumeSize: _, ...rest } = found;
  return [{ type: "update", object: { ...rest, ...sizes } }];
}

/** The name is the same for each attempt, so that a create whose response was lost makes no second object. */
function objectOf(driver: string, place: Place): CSIStorageCapacity {
  const id = createHash("sha256")
    .update(`${driver} ${placeId(place)}`)
    .digest("hex")
    .slice(0, 16);
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIStorageCapacity",
    metadata: {
      name: `csisc-${id}`,
      namespace: NAMESPACE,
      labels: { [DRIVER_LABEL]: driver, [MANAGED_BY_LABEL]: MANAGER },
    },
    storageClassName: place.className,
    nodeTopology: { ...(Object.keys(place.segments).length > 0 && { matchLabels: { ...place.segments } }) },
  };
}

const placeId = ({ className, segments }: Pick<Place, "className" | "segments">): string =>
  `${className} ${canonicalJson(segments)}`;

const placeIdOf = ({ storageClassName, nodeTopology }: CSIStorageCapacity): string =>
  placeId({ className: storageClassName, segments: nodeTopology?.matchLabels ?? {} });
