import type { NodeInfo } from "../../model/node-info.ts";
import { keyText } from "../../model/spec.ts";
import { busy, type Filter } from "./interface.ts";
import { claimKeysOf, claimsOf } from "./volume-claims.ts";

/**
 * A claim with access mode ReadWriteOncePod is used by one pod of the cluster. The pod that uses it can be preempted on
 * its node.
 */
export const volumeRestrictions: Filter = {
  name: "VolumeRestrictions",
  wokenBy: ["pod-removed", "claim-changed"],
  prepare(pod, { nodes, storage }) {
    const exclusive = claimsOf(pod, storage)
      .filter(({ spec }) => spec.accessModes?.includes("ReadWriteOncePod"))
      .map(({ metadata }) => keyText(metadata));
    if (exclusive.length === 0) return undefined;
    // The nodes as they would be: a pod that is to be preempted is not on its node.
    const isUsedOn = ({ pods }: NodeInfo): boolean =>
      pods.values().some((other) => other.key !== pod.key && claimKeysOf(other).some((one) => exclusive.includes(one)));
    if (!nodes.some(isUsedOn)) return undefined;
    return (node) => {
      const reason =
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";
      return { ...busy(reason), final: !isUsedOn(node) };
    };
  },
};
