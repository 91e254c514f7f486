import type { Node } from "@causeway/kubernetes";
import { labelTest, nodeSelectorTest } from "../model/selector.ts";
import { quantity } from "../model/quantity.ts";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../objects/storage.ts";
import type { StorageView } from "../model/view.ts";

export const noProvisioner = "kubernetes.io/no-provisioner";

/** The smallest volume that a claim can be bound to on a node. One that was set aside for the claim comes first. */
export function findVolume(
  claim: PersistentVolumeClaim,
  node: Node,
  { storage, taken }: { readonly storage: StorageView; readonly taken: ReadonlySet<string> },
): PersistentVolume | undefined {
  const fitting = storage
    .volumesOf(claim.spec.storageClassName ?? "")
    .filter((volume) => !taken.has(volume.metadata.name) && fits(volume, claim) && isReachable(volume, node));
  const own = fitting.find(({ spec }) => spec.claimRef);
  return (
    own ??
    fitting.reduce<PersistentVolume | undefined>(
      (best, one) => (best && size(best) <= size(one) ? best : one),
      undefined,
    )
  );
}

function fits(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { spec, metadata, status } = volume;
  if (metadata.deletionTimestamp !== undefined) return false;
  const { claimRef } = spec;
  if (claimRef) {
    const { namespace, name, uid } = claim.metadata;
    if (claimRef.name !== name || claimRef.namespace !== namespace) return false;
    if (claimRef.uid && claimRef.uid !== uid) return false;
  } else if (status?.phase !== undefined && status.phase !== "Available") return false;
  const modes = new Set(spec.accessModes);
  return (
    (spec.volumeMode ?? "Filesystem") === (claim.spec.volumeMode ?? "Filesystem") &&
    (claim.spec.accessModes ?? []).every((mode) => modes.has(mode)) &&
    (!claim.spec.selector || labelTest(claim.spec.selector)(metadata.labels ?? {})) &&
    size(volume) >= quantity(claim.spec.resources?.requests?.["storage"])
  );
}

function size(volume: PersistentVolume): number {
  return quantity(volume.spec.capacity?.["storage"]);
}

export function isReachable(volume: PersistentVolume, node: Node): boolean {
  const required = volume.spec.nodeAffinity?.required;
  return required === undefined || nodeSelectorTest(required)(node);
}

/** Whether a volume of a class can be made for a node. */
export function canProvision(storageClass: StorageClass, node: Node): boolean {
  if (storageClass.provisioner === noProvisioner || storageClass.provisioner === "") return false;
  const terms = storageClass.allowedTopologies ?? [];
  if (terms.length === 0) return true;
  const asSelector = terms.map(({ matchLabelExpressions = [] }) => ({
    matchExpressions: matchLabelExpressions.map((one) => ({ ...one, operator: "In" })),
  }));
  return nodeSelectorTest({ nodeSelectorTerms: asSelector })(node);
}
