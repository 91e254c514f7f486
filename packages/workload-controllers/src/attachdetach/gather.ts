import type { Informer, Node, ObjectKey, Pod } from "@causeway/kubernetes";
import { isTerminal } from "../objects/pods.ts";
import {
  claimsUsedBy,
  csiOf,
  type CSIDriver,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type VolumeAttachment,
} from "../objects/storage.ts";

/** A volume that pods of the node need. */
export interface Need {
  readonly volume: PersistentVolume;
  readonly pods: readonly Pod[];
}

/** One node: the volumes that its pods need, and the attachments that name it. */
export interface Observed {
  readonly name: string;
  readonly node: Node | undefined;
  readonly needs: readonly Need[];
  /** Of this node. */
  readonly attachments: readonly VolumeAttachment[];
  /** Nodes with an attachment of a volume, by the volume's name. */
  readonly nodesOf: (volume: string) => readonly string[];
  readonly volumeOf: (name: string) => PersistentVolume | undefined;
  /** Since when an attachment is not needed, in milliseconds since the epoch. */
  readonly idleSince: (attachment: string) => number;
}

/** What gather reads; `idle` has since when each attachment is not needed, by its name, and gather keeps it. */
export interface Caches {
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly drivers: Informer<CSIDriver>;
  readonly attachments: Informer<VolumeAttachment>;
  readonly idle: Map<string, number>;
}

/** Names of indexes: pods by node, attachments by node and by volume. */
export const index = { podNode: "nodeName", node: "node", volume: "volume" };

/** The key is the node's name. A node that is gone is planned too: its attachments remain to be deleted. */
export function gather(caches: Caches, { name }: ObjectKey, now: number): Observed {
  const { nodes, pods, attachments, volumes, idle } = caches;
  const own = attachments.byIndex(index.node, name);
  const needs = needsOf(caches, pods.byIndex(index.podNode, name));
  const needed = new Set(needs.map(({ volume }) => volume.metadata.name));
  for (const { metadata, spec } of own) {
    if (needed.has(spec.source.persistentVolumeName ?? "")) idle.delete(metadata.name);
    else if (!idle.has(metadata.name)) idle.set(metadata.name, now);
  }
  return {
    name,
    node: nodes.get({ namespace: "", name }),
    needs,
    attachments: own,
    nodesOf: (volume) => attachments.byIndex(index.volume, volume).map(({ spec }) => spec.nodeName),
    volumeOf: (volume) => volumes.get({ namespace: "", name: volume }),
    idleSince: (attachment) => idle.get(attachment) ?? now,
  };
}

/** Volumes of drivers that attach, for pods that have not ended. */
function needsOf({ claims, volumes, drivers }: Caches, pods: readonly Pod[]): Need[] {
  const needs = new Map<string, { volume: PersistentVolume; pods: Pod[] }>();
  for (const pod of pods) {
    if (isTerminal(pod)) continue;
    for (const id of claimsUsedBy(pod)) {
      const [namespace = "", name = ""] = id.split("/");
      const claim = claims.get({ namespace, name });
      const volume = claim && volumes.get({ namespace: "", name: claim.spec.volumeName ?? "" });
      const csi = volume && csiOf(volume);
      if (!volume || !csi || volume.spec.claimRef?.uid !== claim?.metadata.uid) continue;
      if (drivers.get({ namespace: "", name: csi.driver })?.spec?.attachRequired === false) continue;
      const known = needs.get(volume.metadata.name);
      if (known) known.pods.push(pod);
      else needs.set(volume.metadata.name, { volume, pods: [pod] });
    }
  }
  return [...needs.values()];
}
