import type { Node } from "@causeway/kubernetes";
import { quantity } from "../../model/quantity.ts";
import { labelTest } from "../../model/selector.ts";
import type { CSIStorageCapacity, PersistentVolumeClaim, StorageClass } from "../../objects/storage.ts";
import type { StorageView } from "../view.ts";

/**
 * Whether a volume for the claim can be provisioned where the node reaches it, as far as the driver publishes that:
 * only a CSIDriver with `storageCapacity` is compared with its CSIStorageCapacity objects. One without them has no
 * room.
 */
export function hasRoom(
  claim: PersistentVolumeClaim,
  { storageClass, node, storage }: { storageClass: StorageClass; node: Node; storage: StorageView },
): boolean {
  const requested = claim.spec.resources?.requests?.["storage"];
  if (requested === undefined) return true;
  if (storage.csiDriver(storageClass.provisioner)?.spec.storageCapacity !== true) return true;
  const size = quantity(requested);
  return storage
    .capacitiesOf(storageClass.metadata.name)
    .some((each) => isLargeEnough(each, size) && labelTest(each.nodeTopology)(node.metadata.labels ?? {}));
}

/** The largest volume says more than the sum of what is free. */
function isLargeEnough({ maximumVolumeSize, capacity }: CSIStorageCapacity, size: number): boolean {
  const limit = maximumVolumeSize ?? capacity;
  return limit !== undefined && quantity(limit) >= size;
}
