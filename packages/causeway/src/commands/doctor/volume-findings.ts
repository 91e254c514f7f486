import { shortList } from "@causeway/foundation";
import type { CloudAnswer } from "./facts.ts";
import type { Finding } from "./finding.ts";
import type { VolumeFacts } from "./volume-facts.ts";

/** Objects that one finding names. */
const MOST = 5;

/** None without a cluster. */
export function volumeFindings(volumes: CloudAnswer<VolumeFacts> | undefined): Finding[] {
  if (volumes === undefined) return [];
  const feature = "volumes";
  if ("error" in volumes) {
    return [{ feature, state: "limited", because: `they cannot be compared with the cloud: ${volumes.error}` }];
  }
  const { known, missing, orphans, orphanSnapshots, strayAttachments } = volumes.value;
  const findings: Finding[] = [
    ...finding(missing, {
      feature,
      state: "broken",
      because: "PersistentVolumes have no volume in this project",
      todo: "Use credentials of the project that has the volumes, or restore them from backups.",
    }),
    ...finding(strayAttachments, {
      feature: "attachments",
      state: "limited",
      because: "volumes are attached without a VolumeAttachment",
      todo: "Check that no pod uses them; detach them with `openstack server remove volume`.",
    }),
    ...finding(orphans, {
      feature: "orphaned volumes",
      state: "limited",
      because: "volumes have no PersistentVolume: they were retained, or are of another cluster of the same name",
      todo: "Check what they hold; delete them with `causeway sweep --volumes`.",
    }),
    ...finding(orphanSnapshots, {
      feature: "orphaned snapshots",
      state: "limited",
      because:
        "snapshots or backups have no VolumeSnapshotContent: they were retained, or are of another cluster of the same name",
      todo: "Delete them with `causeway sweep --volumes`.",
    }),
  ];
  if (findings.length > 0) return findings;
  const because = known === 0 ? "the cluster has no Cinder volumes" : `all ${known} have their volume`;
  return [{ feature, state: "works", because }];
}

function finding(names: readonly string[], found: Finding): Finding[] {
  if (names.length === 0) return [];
  return [{ ...found, because: `${names.length} ${found.because}: ${shortList(names, MOST)}` }];
}
