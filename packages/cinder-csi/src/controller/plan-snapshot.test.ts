import type { VolumeBackup, VolumeSnapshot } from "@causeway/openstack";
import { describe, expect, test } from "vitest";
import { planSnapshot, resultOf } from "./plan-snapshot.ts";

describe("the plan of CreateSnapshot", () => {
  const snapshot = (change: Partial<VolumeSnapshot> = {}): VolumeSnapshot => ({
    id: "s1",
    name: "snap",
    description: null,
    volume_id: "v1",
    status: "available",
    size: 2,
    metadata: {},
    created_at: "2026-01-01T00:00:00.000000",
    ...change,
  });
  const backup = (change: Partial<VolumeBackup> = {}): VolumeBackup => ({
    ...snapshot(),
    id: "b1",
    snapshot_id: "s1",
    is_incremental: false,
    availability_zone: null,
    fail_reason: null,
    ...change,
  });
  test.each([
    ["creates a snapshot", "snapshot", [], [], "create-snapshot"],
    ["waits for its content", "snapshot", [snapshot({ status: "creating" })], [], "wait-snapshot"],
    ["returns the snapshot of an earlier call", "snapshot", [snapshot()], [], "done ready"],
    [
      "refuses the name of another volume's snapshot",
      "snapshot",
      [snapshot({ volume_id: "v2" })],
      [],
      "CSI_ALREADY_EXISTS",
    ],
    [
      "deletes a snapshot that Cinder could not create",
      "snapshot",
      [snapshot({ status: "error" })],
      [],
      "remove-failed",
    ],
    ["fails for two snapshots of the name", "snapshot", [snapshot(), snapshot({ id: "s2" })], [], "CSI_INTERNAL"],
    [
      "returns a snapshot while a backup is made of it",
      "snapshot",
      [snapshot({ status: "backing-up" })],
      [],
      "done ready",
    ],
    ["retries while a snapshot is being deleted", "snapshot", [snapshot({ status: "deleting" })], [], "CSI_ABORTED"],
    [
      "fails for a status of the snapshot that it does not know",
      "snapshot",
      [snapshot({ status: "error_deleting" })],
      [],
      "CSI_INTERNAL",
    ],
    ["retries while a backup is being deleted", "backup", [], [backup({ status: "deleting" })], "CSI_ABORTED"],
    ["returns a backup that is being restored", "backup", [], [backup({ status: "restoring" })], "done ready"],
    [
      "returns a backup whose snapshot is being deleted",
      "backup",
      [snapshot({ status: "deleting" })],
      [backup()],
      "done ready",
    ],
    ["makes a snapshot for a backup first", "backup", [], [], "create-snapshot"],
    ["makes the backup after the snapshot", "backup", [snapshot()], [], "create-backup"],
    [
      "returns a backup that is not ready",
      "backup",
      [snapshot({ status: "backing-up" })],
      [backup({ status: "creating" })],
      "done",
    ],
    ["deletes the snapshot of a complete backup", "backup", [snapshot()], [backup()], "delete-snapshot"],
    ["returns a complete backup", "backup", [], [backup()], "done ready"],
    [
      "deletes a backup that Cinder could not create",
      "backup",
      [snapshot()],
      [backup({ status: "error" })],
      "remove-failed",
    ],
  ] as const)("%s", (_, kind, snapshots, backups, expected) => {
    const step = planSnapshot({ kind, name: "snap", volumeId: "v1", snapshots, backups });
    const shown =
      step.type === "fail" ? step.code : step.type === "done" && step.result.ready ? "done ready" : step.type;
    expect(shown).toBe(expected);
  });
});

test("the plan of CreateSnapshot says what failed, and which of several are in the way", () => {
  const snapshot = { id: "s1", name: "snap", volume_id: "v1", status: "error", size: 2 } as VolumeSnapshot;
  const backup = { ...snapshot, id: "b1" } as unknown as VolumeBackup;
  const view = { name: "snap", volumeId: "v1", snapshots: [snapshot], backups: [backup] };
  expect(planSnapshot({ ...view, kind: "snapshot" })).toEqual({ type: "remove-failed", kind: "snapshot", id: "s1" });
  expect(planSnapshot({ ...view, kind: "backup" })).toEqual({ type: "remove-failed", kind: "backup", id: "b1" });
  expect(planSnapshot({ ...view, kind: "backup", backups: [backup, { ...backup, id: "b2" }] })).toMatchObject({
    message: "Several snapshots or backups are named snap: b1, b2. Delete those that are not in use.",
  });
});

test("the result of CreateSnapshot names the group snapshot that it is part of", () => {
  const own = { id: "s1", volume_id: "v1", size: 2 };
  const result = { id: "s1", volumeId: "v1", gib: 2, createdAt: "", ready: true };
  expect(resultOf(own, true)).toStrictEqual(result);
  expect(resultOf({ ...own, group_snapshot_id: "g" }, true)).toStrictEqual({ ...result, groupSnapshotId: "g" });
});
