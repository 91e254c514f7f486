import type { PodInfo } from "../../model/pod-info.ts";
import type { StorageView } from "../view.ts";
import { busy, type Filter } from "./interface.ts";
import { csiOf, driverOf } from "../../objects/storage.ts";
import { claimsOf, isBound } from "./volume-claims.ts";

/** No CSI driver has more volumes on a node than its CSINode allows. A volume that several pods use counts once. */
export const nodeVolumeLimits: Filter = {
  name: "NodeVolumeLimits",
  wokenBy: ["pod-removed", "csi-node-changed", "node-added", "claim-changed"],
  prepare(pod, { storage }) {
    const wanted = attachments(pod, storage);
    if (wanted.size === 0) return undefined;
    return (node) => {
      const drivers = storage.csiNode(node.name)?.spec.drivers ?? [];
      const limits = new Map(drivers.flatMap(({ name, allocatable }) => limitOf(name, allocatable?.count)));
      if (limits.size === 0) return undefined;
      const attached = new Map<string, string>();
      for (const other of node.pods.values()) {
        for (const [volume, driver] of attachments(other, storage)) attached.set(volume, driver);
      }
      const all = new Map([...attached, ...wanted]);
      for (const [driver, limit] of limits) {
        const adds = [...wanted].some(([volume, of]) => of === driver && !attached.has(volume));
        const count = [...all.values()].filter((of) => of === driver).length;
        if (adds && count > limit) return busy("node(s) exceed max volume count");
      }
      return undefined;
    };
  },
};

function limitOf(name: string, count: number | undefined): [string, number][] {
  return count === undefined ? [] : [[name, count]];
}

/** The drivers of a pod's CSI volumes, by volume; one that is still to be made counts by its claim. */
function attachments(pod: PodInfo, storage: StorageView): Map<string, string> {
  const found = new Map<string, string>();
  for (const claim of claimsOf(pod, storage)) {
    if (isBound(claim)) {
      const volume = storage.volume(claim.spec.volumeName ?? "");
      const csi = volume && csiOf(volume);
      if (csi) found.set(`${csi.driver}/${csi.volumeHandle}`, csi.driver);
    } else {
      const driver = driverOf(storage.storageClass(claim.spec.storageClassName ?? "")?.provisioner ?? "");
      if (driver !== "") found.set(`${driver}/claim:${claim.metadata.uid ?? claim.metadata.name}`, driver);
    }
  }
  return found;
}
