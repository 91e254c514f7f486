import { quantity } from "../model/quantity.ts";
import { labelTest } from "../model/selector.ts";
import { refersTo, type PersistentVolume, type PersistentVolumeClaim } from "./storage.ts";

/** The smallest volume that a claim can be bound to. One that was set aside for the claim comes first. */
export function bestVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
): PersistentVolume | undefined {
  const fitting = volumes.filter((volume) => isFree(volume, claim) && whyUnfit(volume, claim) === undefined);
  return (
    fitting.find(({ spec }) => spec.claimRef) ??
    fitting.reduce<PersistentVolume | undefined>(
      (best, one) => (best && size(best) <= size(one) ? best : one),
      undefined,
    )
  );
}

function isFree(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { spec, metadata, status } = volume;
  if (metadata.deletionTimestamp !== undefined) return false;
  if (spec.claimRef) return refersTo(volume, claim);
  if (claim.spec.selector && !labelTest(claim.spec.selector)(metadata.labels ?? {})) return false;
  return status?.phase === undefined || status.phase === "Available";
}

/**
 * Why a volume does not do for a claim; undefined: it does. One that was set aside for a claim may be of another class.
 */
export function whyUnfit({ spec }: PersistentVolume, { spec: wanted }: PersistentVolumeClaim): string | undefined {
  if (quantity(spec.capacity?.["storage"]) < quantity(wanted.resources?.requests?.["storage"])) {
    return "requested PV is too small";
  }
  const isOtherClass = (spec.storageClassName ?? "") !== (wanted.storageClassName ?? "");
  if (isOtherClass && !spec.claimRef) return "storageClassName does not match";
  if ((spec.volumeMode ?? "Filesystem") !== (wanted.volumeMode ?? "Filesystem")) return "incompatible volumeMode";
  const modes = new Set(spec.accessModes);
  return (wanted.accessModes ?? []).every((mode) => modes.has(mode)) ? undefined : "incompatible accessMode";
}

function size({ spec }: PersistentVolume): number {
  return quantity(spec.capacity?.["storage"]);
}
