import type { Node, PersistentVolume, Pod, VolumeAttachment } from "@causeway/kubernetes";
import { drainBehaviorOf, type DrainContext } from "./drain-rules.ts";

/** The volumes of a Node, which are read after its drain. */
export interface ObservedVolumes {
  /** Those of the one Node. */
  readonly attachments: readonly VolumeAttachment[];
  /** Read only where a volume is attached. */
  readonly persistentVolumes: readonly PersistentVolume[];
}

/** Names of volumes that are attached: as the kubelet reports them, and PersistentVolumes of VolumeAttachments. */
export function attachedVolumes(
  node: Node,
  attachments: readonly VolumeAttachment[],
): { readonly reported: readonly string[]; readonly persistent: readonly string[] } {
  const { volumesAttached = [] } = (node.status ?? {}) as { volumesAttached?: { name: string }[] };
  const persistent = attachments
    .filter(({ spec, status }) => spec.nodeName === node.metadata.name && status?.attached === true)
    .map(({ spec, metadata }) => spec.source.persistentVolumeName ?? `VolumeAttachment ${metadata.name}`);
  return { reported: volumesAttached.map(({ name }) => name), persistent };
}

/**
 * The volumes that a Machine's deletion waits for, by claims where they have one: all that are attached, but for those
 * of pods that the drain skips, which remain mounted until the machine ends.
 */
export function volumesToWaitFor(
  node: Node,
  { attachments, persistentVolumes }: ObservedVolumes,
  skipped: ReadonlySet<string>,
): string[] {
  const { reported, persistent } = attachedVolumes(node, attachments);
  const left = new Set([...reported, ...persistent]);
  const waited = persistentVolumes.flatMap(({ metadata, spec: { csi, claimRef } }) => {
    const names = [metadata.name, ...(csi ? [`kubernetes.io/csi/${csi.driver}^${csi.volumeHandle}`] : [])];
    if (!names.some((name) => left.has(name))) return [];
    for (const name of names) left.delete(name);
    if (!claimRef?.name) return [`PersistentVolume ${metadata.name}`];
    const claim = `${claimRef.namespace ?? ""}/${claimRef.name}`;
    return skipped.has(claim) ? [] : [`PersistentVolumeClaim ${claim}`];
  });
  return [...waited, ...left].toSorted();
}

/** The claims of pods that a drain leaves alone, as `namespace/name`. */
export function claimsOfSkippedPods(pods: readonly Pod[], context: DrainContext): ReadonlySet<string> {
  const skipped = pods.filter((pod) => drainBehaviorOf(pod, context).behavior === "Skip");
  return new Set(
    skipped.flatMap(({ metadata, spec }) =>
      (spec?.volumes ?? []).flatMap((volume) => {
        const { claimName } = (volume["persistentVolumeClaim"] ?? {}) as { claimName?: string };
        return claimName === undefined ? [] : [`${metadata.namespace ?? ""}/${claimName}`];
      }),
    ),
  );
}
