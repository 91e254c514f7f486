import { keyText } from "../../model/spec.ts";
import { busy, type Filter } from "./interface.ts";
import { claimKeysOf, claimsOf } from "./volume-claims.ts";

/** A claim with access mode ReadWriteOncePod is used by one pod of the cluster. The pod that uses it can be preempted on its node. */
export const volumeRestrictions: Filter = {
  name: "VolumeRestrictions",
  wokenBy: ["pod-removed", "claim-changed"],
  prepare(pod, { storage }) {
    const exclusive = claimsOf(pod, storage)
      .filter(({ spec }) => spec.accessModes?.includes("ReadWriteOncePod"))
      .map(({ metadata }) => keyText(metadata));
    if (!exclusive.some((claim) => storage.isUsed(claim, pod.key))) return undefined;
    return (node) => {
      const isUsedHere = [...node.pods.values()].some((other) =>
        claimKeysOf(other).some((claim) => exclusive.includes(claim)),
      );
      const reason =
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";
      return { ...busy(reason), final: !isUsedHere };
    };
  },
};
