import type { Node } from "@causeway/kubernetes";
import {
  noProvisioner,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
} from "../../objects/storage.ts";
import { bestVolume } from "../../objects/volume-match.ts";
import { nodeSelectorTest } from "../../model/selector.ts";
import type { StorageView } from "../view.ts";

/** The smallest volume that a claim can be bound to on a node. One that was set aside for the claim comes first. */
export function findVolume(
  claim: PersistentVolumeClaim,
  node: Node,
  { storage, taken }: { readonly storage: StorageView; readonly taken: ReadonlySet<string> },
): PersistentVolume | undefined {
  const fitting = storage
    .volumesOf(claim.spec.storageClassName ?? "")
    .filter((volume) => !taken.has(volume.metadata.name) && isReachable(volume, node));
  return bestVolume(claim, fitting);
}

/** By the volume's node affinity; without one every node reaches it. */
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
