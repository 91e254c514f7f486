import { isControlledBy } from "@causeway/kubernetes";
import type { NodeInfo } from "../../model/node-info.ts";
import type { PodInfo } from "../../model/pod-info.ts";
import { keyText } from "../../model/spec.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../objects/storage.ts";
import type { ClusterView, StorageView } from "../view.ts";
import { final, type Filter, type Rejection } from "./interface.ts";
import { claimNameOf, claimsOf, isBound, waitsForNode } from "./volume-claims.ts";
import { hasRoom } from "./storage-capacity.ts";
import { canProvision, findVolume, isReachable } from "./volume-match.ts";

/**
 * The volumes of bound claims can be reached from the node, and for claims that wait for a node a volume is there, or
 * can be made for it.
 */
export const volumeBinding: Filter = {
  name: "VolumeBinding",
  wokenBy: [
    "claim-changed",
    "volume-changed",
    "storage-class-changed",
    "csi-node-changed",
    "storage-capacity-changed",
    "node-added",
    "node-changed",
  ],
  prepare(pod, view) {
    const { storage } = view;
    const rejection = whyNowhere(pod, view);
    if (rejection) return rejection;
    const claims = claimsOf(pod, storage);
    if (claims.length === 0) return undefined;
    const bound = claims.filter(isBound);
    const waiting = claims.filter((claim) => !isBound(claim));
    return (node) => {
      for (const { spec } of bound) {
        const volume = storage.volume(spec.volumeName ?? "");
        if (!volume) return final("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
        if (!isReachable(volume, node.node)) return final("node(s) had volume node affinity conflict");
      }
      const plan = planVolumes(waiting, node, storage);
      return "reason" in plan ? final(plan.reason) : undefined;
    };
  },
};

/** How the claims of a pod come to volumes on a node. */
export interface VolumePlan {
  readonly bind: readonly { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }[];
  readonly provision: readonly PersistentVolumeClaim[];
}

/** Why they cannot, in the words of Kubernetes' scheduler. */
interface NoVolumes {
  readonly reason: string;
}

const NO_VOLUME: NoVolumes = { reason: "node(s) didn't find available persistent volumes to bind" };
const NO_ROOM: NoVolumes = { reason: "node(s) did not have enough free storage" };

/** A volume that exists comes before one that is to be provisioned; no volume is planned for two claims. */
export function planVolumes(
  claims: readonly PersistentVolumeClaim[],
  { node }: NodeInfo,
  storage: StorageView,
): VolumePlan | NoVolumes {
  const bind: { claim: PersistentVolumeClaim; volume: PersistentVolume }[] = [];
  const provision: PersistentVolumeClaim[] = [];
  const taken = new Set<string>();
  for (const claim of claims) {
    const selected = claim.metadata.annotations?.["volume.kubernetes.io/selected-node"];
    if (selected !== undefined && selected !== node.metadata.name) return NO_VOLUME;
    const volume = findVolume(claim, node, { storage, taken });
    const storageClass = storage.storageClass(claim.spec.storageClassName ?? "");
    if (volume && selected === undefined) {
      taken.add(volume.metadata.name);
      bind.push({ claim, volume });
      continue;
    }
    if (!storageClass || !canProvision(storageClass, node)) return NO_VOLUME;
    if (!hasRoom(claim, { storageClass, node, storage })) return NO_ROOM;
    provision.push(claim);
  }
  return { bind, provision };
}

/** The claims that are still to be bound once a node is chosen. */
export function waitingClaims(pod: PodInfo, storage: StorageView): PersistentVolumeClaim[] {
  return claimsOf(pod, storage).filter((claim) => !isBound(claim));
}

function whyNowhere(pod: PodInfo, { storage }: ClusterView): Rejection | undefined {
  for (const volume of pod.spec.volumes ?? []) {
    const name = claimNameOf(pod, volume);
    if (name === undefined) continue;
    const claim = storage.claim(pod.namespace, name);
    if (!claim && volume.ephemeral) {
      return {
        rejected: `waiting for ephemeral volume controller to create the persistentvolumeclaim ${JSON.stringify(name)}`,
      };
    }
    if (!claim) return { rejected: `persistentvolumeclaim ${JSON.stringify(name)} not found` };
    if (volume.ephemeral && !isControlledBy(claim, pod.pod)) {
      const [claimKey, podKey] = [claim.metadata, pod.pod.metadata].map(keyText);
      return { rejected: `PVC ${claimKey} was not created for pod ${podKey} (pod is not owner)` };
    }
    if (claim.metadata.deletionTimestamp !== undefined) {
      return { rejected: `persistentvolumeclaim ${JSON.stringify(name)} is being deleted` };
    }
    if (claim.status?.phase === "Lost") {
      return { rejected: `persistentvolumeclaim ${JSON.stringify(name)} bound to non-existent persistentvolume` };
    }
    if (!isBound(claim) && !waitsForNode(claim, storage)) {
      return { rejected: "pod has unbound immediate PersistentVolumeClaims" };
    }
  }
  return undefined;
}
