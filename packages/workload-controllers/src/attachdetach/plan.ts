import type { Node, Plan, PlannedEvent, Pod } from "@causeway/kubernetes";
import { targetOf } from "../objects/claim.ts";
import { csiOf, type CsiName, type VolumeAttachment } from "../objects/storage.ts";
import { attachmentName, attachmentOf, isShared, uniqueName } from "./attachment.ts";
import type { Need, Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/**
 * How long a volume that a silent node uses remains attached, in milliseconds (kube-controller-manager's
 * maxWaitForUnmountDuration).
 */
export const unmountTimeout = 360_000;
const managed = "volumes.kubernetes.io/controller-managed-attach-detach";
const outOfService = "node.kubernetes.io/out-of-service";

/** An event about a pod that waits for a volume. */
export interface PodEvent {
  readonly pod: Pod;
  readonly event: PlannedEvent;
}

/** Attaches the CSI volumes that pods of a node need, and detaches the others once the node does not use them. */
export function plan(observed: Observed, now: number): Plan<Step, readonly PodEvent[]> {
  const { node, needs, attachments } = observed;
  if (node && node.metadata.annotations?.[managed] !== "true") return { steps: [], status: [] };
  const own = attachments.filter((each) => isOurs(observed, each));
  const needed = new Set(needs.map(({ volume }) => volume.metadata.name));
  const isNeeded = ({ spec }: VolumeAttachment) => needed.has(spec.source.persistentVolumeName ?? "");
  const leaving = own
    .filter((each) => !isNeeded(each) && each.metadata.deletionTimestamp === undefined)
    .map((each) => ({ each, at: detachableAt(observed, each, now) }));
  const detached = new Set(leaving.flatMap(({ each, at }) => (at !== undefined && at <= now ? [each] : [])));
  const listing = listed(
    observed,
    own.filter((each) => !detached.has(each) && each.metadata.deletionTimestamp === undefined),
  );
  const missing = needs.filter(
    ({ volume }) => !own.some(({ spec }) => spec.source.persistentVolumeName === volume.metadata.name),
  );
  const blocked = missing.filter((need) => isElsewhere(observed, need));
  const later = leaving.flatMap(({ at }) => (at !== undefined && at > now ? [at] : []));
  return {
    steps: [
      // The kubelet learns first that a volume goes.
      ...listing,
      ...[...detached].map((each) => detachment(observed, each)),
      ...missing
        .filter((need) => !blocked.includes(need))
        .map(({ volume }): Step => {
          const attachment = attachmentOf(volume, observed.name);
          return { type: "create-attachment", attachment, isExclusive: !isShared(volume) };
        }),
    ],
    status: [...blocked.flatMap(multiAttach), ...needs.flatMap((need) => failures(need, own))],
    ...(later.length === 0 ? {} : { wait: { for: "a node to unmount its volumes", until: Math.min(...later) } }),
  };
}

/** Attachments of other names are of other programs. */
function isOurs(observed: Observed, attachment: VolumeAttachment): boolean {
  const csi = attachedBy(observed, attachment);
  return csi !== undefined && attachment.metadata.name === attachmentName(csi, observed.name);
}

/** The volume that is attached, as CSI names it. */
function attachedBy({ volumeOf }: Observed, { spec }: VolumeAttachment): CsiName | undefined {
  const volume = volumeOf(spec.source.persistentVolumeName ?? "");
  return volume && csiOf(volume);
}

function detachment(observed: Observed, attachment: VolumeAttachment): Step {
  const { node } = observed;
  const csi = attachedBy(observed, attachment);
  const name = csi ? uniqueName(csi) : undefined;
  // By the time that passed, or because the node is out of service, it is detached although the node lists it.
  const isForced = !node || !name || (volumesOf(node).volumesInUse ?? []).includes(name);
  return { type: "delete-attachment", target: targetOf(attachment), ...(isForced ? {} : { unlessUsed: name }) };
}

/** When the volume may be detached; undefined: not while the node uses it. */
function detachableAt(observed: Observed, attachment: VolumeAttachment, now: number): number | undefined {
  const { node, idleSince } = observed;
  const csi = attachedBy(observed, attachment);
  if (!node || !csi) return now;
  const { volumesInUse = [] } = volumesOf(node);
  if (!volumesInUse.includes(uniqueName(csi)) || node.spec.taints?.some(({ key }) => key === outOfService)) return now;
  const isReady = node.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  return isReady ? undefined : idleSince(attachment.metadata.name) + unmountTimeout;
}

interface NodeVolumes {
  readonly volumesInUse?: readonly string[];
  readonly volumesAttached?: readonly { readonly name: string }[];
}

function volumesOf({ status }: Node): NodeVolumes {
  return (status ?? {}) as NodeVolumes;
}

/** What the node's status lists as attached. */
function listed(observed: Observed, kept: readonly VolumeAttachment[]): Step[] {
  const { node, needs } = observed;
  if (!node) return [];
  const attached = kept
    .filter(({ status }) => status?.attached === true)
    .flatMap((each) => {
      const csi = attachedBy(observed, each);
      return csi ? [{ volume: each.spec.source.persistentVolumeName ?? "", name: uniqueName(csi) }] : [];
    });
  const before = new Set((volumesOf(node).volumesAttached ?? []).map(({ name }) => name));
  const others = [...before].filter((name) => !name.startsWith("kubernetes.io/csi/"));
  const names = [...others, ...attached.map(({ name }) => name)].toSorted((a, b) => a.localeCompare(b));
  if (names.length === before.size && names.every((name) => before.has(name))) return [];
  const begun = attached
    .filter(({ name }) => !before.has(name))
    .map(({ volume }) => ({
      volume,
      pods: needs.find((need) => need.volume.metadata.name === volume)?.pods ?? [],
    }));
  return [{ type: "list-attached", names, begun }];
}

function isElsewhere({ name, nodesOf }: Observed, { volume }: Need): boolean {
  return !isShared(volume) && nodesOf(volume.metadata.name).some((node) => node !== name);
}

function multiAttach({ volume, pods }: Need): PodEvent[] {
  const message =
    `Multi-Attach error for volume ${JSON.stringify(volume.metadata.name)} ` +
    "Volume is already exclusively attached to one node and can't be attached to another";
  return pods.map((pod) => ({ pod, event: { type: "Warning", reason: "FailedAttachVolume", message } }));
}

function failures({ volume, pods }: Need, own: readonly VolumeAttachment[]): PodEvent[] {
  const { name } = volume.metadata;
  const found = own.find(({ spec }) => spec.source.persistentVolumeName === name)?.status?.attachError?.message;
  if (found === undefined) return [];
  const message = `AttachVolume.Attach failed for volume ${JSON.stringify(name)} : ${found}`;
  return pods.map((pod) => ({ pod, event: { type: "Warning", reason: "FailedAttachVolume", message } }));
}
