import { createHash } from "node:crypto";
import type { PersistentVolume } from "@causeway/kubernetes";
import {
  GROUP,
  VERSION,
  type VolumeGroupSnapshot,
  type VolumeGroupSnapshotContent,
  type VolumeSnapshotInfo,
} from "../group-snapshot-objects.ts";
import { snapshotNames } from "../snapshot-objects.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** The VolumeSnapshots of a group snapshot, as snapshot-controller makes them, as far as they are missing. */
export function memberSteps(observed: Observed, content: VolumeGroupSnapshotContent): readonly Step[] {
  const { volumeGroupSnapshotHandle: handle, volumeSnapshotInfoList: infos = [] } = content.status ?? {};
  if (handle === undefined) return [];
  return infos.flatMap((info): readonly Step[] => {
    const step = memberStep(observed, content, { info, handle });
    return isComplete(observed, step, info) ? [] : [step];
  });
}

type MemberStep = Extract<Step, { type: "create-member" }>;

function memberStep(
  { group, volume }: Observed,
  { spec }: VolumeGroupSnapshotContent,
  { info, handle }: { readonly info: VolumeSnapshotInfo; readonly handle: string },
): MemberStep {
  const { volumeHandle = "" } = info;
  const id = createHash("sha256").update(`${group.metadata.uid}${volumeHandle}`).digest("hex");
  const source = volume(volumeHandle);
  const namespace = group.metadata.namespace ?? "";
  return {
    type: "create-member",
    snapshot: snapshotOf(group, `snapshot-${id}`, source),
    content: {
      apiVersion: "snapshot.storage.k8s.io/v1",
      kind: "VolumeSnapshotContent",
      metadata: { name: `snapcontent-${id}`, annotations: { [snapshotNames.groupHandle]: handle } },
      spec: {
        driver: spec.driver,
        deletionPolicy: spec.deletionPolicy,
        source: { volumeHandle },
        ...(source && { sourceVolumeMode: source.spec.volumeMode ?? "Filesystem" }),
        volumeSnapshotRef: { namespace, name: `snapshot-${id}` },
      },
    },
    status: {
      snapshotHandle: info.snapshotHandle,
      volumeGroupSnapshotHandle: handle,
      readyToUse: info.readyToUse ?? false,
      ...(info.creationTime !== undefined && { creationTime: info.creationTime }),
      ...(info.restoreSize !== undefined && { restoreSize: info.restoreSize }),
    },
  };
}

function snapshotOf({ metadata }: VolumeGroupSnapshot, name: string, source: PersistentVolume | undefined) {
  const owner = {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: "VolumeGroupSnapshot",
    name: metadata.name,
    uid: metadata.uid ?? "",
    controller: true,
  };
  return {
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshot",
    metadata: {
      name,
      namespace: metadata.namespace ?? "",
      ownerReferences: [owner],
      finalizers: [snapshotNames.groupFinalizer],
    },
    spec: { source: { persistentVolumeClaimName: source?.spec.claimRef?.name ?? "" } },
  };
}

function isComplete({ members, memberContent }: Observed, step: MemberStep, info: VolumeSnapshotInfo): boolean {
  const member = members.find(({ metadata }) => metadata.name === step.snapshot.metadata.name);
  const content = memberContent(step.content.metadata.name);
  if (!member || !content) return false;
  const isBound = content.spec.volumeSnapshotRef.uid === member.metadata.uid;
  const { snapshotHandle, readyToUse } = content.status ?? {};
  const isNamed = member.status?.boundVolumeSnapshotContentName === content.metadata.name;
  return isBound && isNamed && snapshotHandle === info.snapshotHandle && readyToUse === (info.readyToUse ?? false);
}
