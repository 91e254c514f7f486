import { final, type Filter } from "./interface.ts";
import { claimsOf, isBound } from "./volume-claims.ts";

const zoneLabels = [
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
];

/** A volume that is labelled with a zone or region is used there. A node that has no such label counts as fitting. */
export const volumeZone: Filter = {
  name: "VolumeZone",
  wokenBy: ["claim-changed", "volume-changed", "storage-class-changed", "node-added", "node-changed"],
  prepare(pod, { storage }) {
    const places = claimsOf(pod, storage)
      .filter(isBound)
      .flatMap((claim) => Object.entries(storage.volume(claim.spec.volumeName ?? "")?.metadata.labels ?? {}))
      .filter(([key]) => zoneLabels.includes(key))
      .map(([key, value]) => ({ key, among: new Set(value.split("__")) }));
    if (places.length === 0) return undefined;
    return ({ labels }) => {
      if (!zoneLabels.some((key) => labels[key] !== undefined)) return undefined;
      return places.every(({ key, among }) => among.has(labels[key] ?? ""))
        ? undefined
        : final("node(s) had no available volume zone");
    };
  },
};
