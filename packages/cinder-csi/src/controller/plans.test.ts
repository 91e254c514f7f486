import type { Volume, VolumeBackup, VolumeSnapshot } from "@causeway/openstack";
import { describe, expect, test } from "vitest";
import { METADATA_BACKUP, METADATA_CLUSTER } from "../names.ts";
import { planExpand } from "./change-volume.ts";
import { planPublish, planUnpublish, STUCK, type AttachmentView } from "./plan-attachment.ts";
import { planCreate } from "./plan-create.ts";
import { planSnapshot } from "./plan-snapshot.ts";
import type { VolumeSpec } from "./volume-spec.ts";

const volume = (change: Partial<Volume> = {}): Volume => ({
  id: "v1",
  name: "pvc-1",
  description: null,
  status: "available",
  size: 2,
  volume_type: "ssd",
  availability_zone: "nova",
  bootable: "false",
  attachments: [],
  metadata: { [METADATA_CLUSTER]: "c" },
  created_at: "2026-01-01T00:00:01.000000",
  ...change,
});
const on = (...servers: string[]) => servers.map((server_id) => ({ server_id, device: `/dev/${server_id}` }));

describe("the plan of CreateVolume", () => {
  const spec: VolumeSpec = {
    name: "pvc-1",
    gib: 2,
    type: undefined,
    zone: undefined,
    metadata: { [METADATA_CLUSTER]: "c" },
    source: undefined,
  };
  const now = Date.UTC(2026, 0, 1, 0, 0, 5);
  const older = volume({ id: "v0", created_at: "2026-01-01T00:00:00.000000" });
  test.each([
    ["creates a volume when none has the name", {}, [], "create"],
    ["waits for a volume that is being created", {}, [volume({ status: "creating" })], "wait"],
    ["returns the volume of an earlier call", {}, [volume()], "done"],
    ["returns a volume that is attached already", {}, [volume({ status: "in-use", attachments: on("n") })], "done"],
    ["refuses a volume of another size", {}, [volume({ size: 3 })], "CSI_ALREADY_EXISTS"],
    ["refuses a volume with content that was not requested", {}, [volume({ snapshot_id: "s" })], "CSI_ALREADY_EXISTS"],
    ["refuses an empty volume for a clone", { source: { type: "volume", id: "x" } }, [volume()], "CSI_ALREADY_EXISTS"],
    [
      "refuses an empty volume for a backup",
      { source: { type: "snapshot", id: "b" } },
      [volume()],
      "CSI_ALREADY_EXISTS",
    ],
    [
      "refuses a new empty volume for a clone",
      { source: { type: "volume", id: "x" } },
      [volume({ status: "creating" })],
      "CSI_ALREADY_EXISTS",
    ],
    [
      "refuses a volume that is created from another snapshot",
      { source: { type: "snapshot", id: "b" } },
      [volume({ status: "creating", snapshot_id: "s" })],
      "CSI_ALREADY_EXISTS",
    ],
    [
      "returns the clone of an earlier call",
      { source: { type: "volume", id: "x" } },
      [volume({ source_volid: "x" })],
      "done",
    ],
    [
      "returns the restored backup of an earlier call",
      { source: { type: "snapshot", id: "b" } },
      [volume({ metadata: { [METADATA_BACKUP]: "b" } })],
      "done",
    ],
    [
      "returns a restored backup after Cinder has replaced the metadata",
      { source: { type: "snapshot", id: "b" } },
      [volume({ metadata: { [METADATA_BACKUP]: "earlier", src_backup_id: "b" } })],
      "done",
    ],
    [
      "waits for a volume whose backup is restored, whatever its metadata",
      { source: { type: "snapshot", id: "b" } },
      [volume({ status: "restoring-backup", metadata: { [METADATA_BACKUP]: "earlier" } })],
      "wait",
    ],
    ["deletes a volume that Cinder could not create", {}, [volume({ status: "error" })], "remove-failed"],
    [
      "keeps a volume in error that is attached",
      {},
      [volume({ status: "error", attachments: on("n") })],
      "CSI_INTERNAL",
    ],
    ["keeps a volume in error of another cluster", {}, [volume({ status: "error", metadata: {} })], "CSI_INTERNAL"],
    ["retries while a volume of the name is being deleted", {}, [volume({ status: "deleting" })], "CSI_ABORTED"],
    ["deletes the younger of two volumes", {}, [volume(), older], "discard"],
    ["keeps a younger volume that is attached", {}, [volume({ attachments: on("n") }), older], "CSI_INTERNAL"],
    ["keeps a younger volume of another cluster", {}, [volume({ metadata: {} }), older], "CSI_INTERNAL"],
    ["ignores a second volume that is being deleted", {}, [volume({ status: "deleting" }), older], "done"],
    ["does not choose between two new volumes of the same age", {}, [volume(), volume({ id: "v2" })], "CSI_ABORTED"],
  ] as const)("%s", (_, change, existing, expected) => {
    const step = planCreate({ spec: { ...spec, ...change } as VolumeSpec, existing, now });
    expect(step.type === "fail" ? step.code : step.type).toBe(expected);
  });

  test("deletes its own volume when an older one has the name, or one of the same age", () => {
    expect(planCreate({ spec, existing: [volume(), older], own: "v1", now })).toEqual({ type: "yield", id: "v1" });
    expect(planCreate({ spec, existing: [volume(), volume({ id: "v2" })], own: "v1", now })).toEqual({
      type: "yield",
      id: "v1",
    });
    expect(planCreate({ spec, existing: [volume(), older], own: "v0", now })).toEqual({ type: "discard", ids: ["v1"] });
  });

  test("deletes one of two old volumes of the same age", () => {
    const step = planCreate({ spec, existing: [volume({ id: "v2" }), volume()], now: now + 3_600_000 });
    expect(step).toEqual({ type: "discard", ids: ["v2"] });
  });
});

describe("the plan of ControllerPublishVolume", () => {
  const view = (change: Partial<AttachmentView>): AttachmentView => ({
    volume: volume(),
    server: "n1",
    fresh: true,
    waited: 0,
    ...change,
  });
  test.each([
    ["attaches an available volume", view({}), "attach"],
    ["lists before it reports a missing volume", view({ volume: undefined, fresh: false }), "refresh"],
    ["reports a missing volume", view({ volume: undefined }), "CSI_NOT_FOUND"],
    [
      "is done when the server has the volume",
      view({ volume: volume({ status: "in-use", attachments: on("n1") }) }),
      "done",
    ],
    [
      "lists before it trusts an attachment",
      view({ volume: volume({ status: "in-use", attachments: on("n1") }), fresh: false }),
      "refresh",
    ],
    [
      "is done while an attached volume grows",
      view({ volume: volume({ status: "extending", attachments: on("n1") }) }),
      "done",
    ],
    ["waits while Nova attaches", view({ volume: volume({ status: "attaching" }) }), "wait"],
    ["waits while the volume is reserved", view({ volume: volume({ status: "reserved" }) }), "wait"],
    [
      "waits while Nova detaches from another server",
      view({ volume: volume({ status: "detaching", attachments: on("n2") }) }),
      "wait",
    ],
    ["recovers a reservation that lasts", view({ volume: volume({ status: "reserved" }), waited: STUCK }), "recover"],
    [
      "lists before it recovers",
      view({ volume: volume({ status: "reserved" }), waited: STUCK, fresh: false }),
      "refresh",
    ],
    [
      "recovers a volume in use without attachments",
      view({ volume: volume({ status: "in-use" }), waited: STUCK }),
      "recover",
    ],
    [
      "does not attach to a second server",
      view({ volume: volume({ status: "in-use", attachments: on("n2") }) }),
      "CSI_FAILED_PRECONDITION",
    ],
    [
      "lists before it refuses a second server",
      view({ volume: volume({ status: "in-use", attachments: on("n2") }), fresh: false }),
      "refresh",
    ],
    [
      "attaches a multiattach block volume to a second server",
      view({ volume: volume({ status: "in-use", multiattach: true, attachments: on("n2") }), sharable: true }),
      "attach",
    ],
    [
      "does not mount a file system on two nodes",
      view({ volume: volume({ status: "in-use", multiattach: true, attachments: on("n2") }) }),
      "CSI_FAILED_PRECONDITION",
    ],
    ["waits for a volume that is being created", view({ volume: volume({ status: "creating" }) }), "wait"],
    ["fails for a volume in error", view({ volume: volume({ status: "error" }) }), "CSI_INTERNAL"],
  ])("%s", (_, given, expected) => {
    const step = planPublish(given);
    expect(step.type === "fail" ? step.code : step.type).toBe(expected);
  });
});

describe("the plan of ControllerUnpublishVolume", () => {
  const attached = volume({ status: "in-use", attachments: on("n1") });
  const view = (change: Partial<AttachmentView>): AttachmentView => ({
    volume: attached,
    server: "n1",
    fresh: true,
    waited: 0,
    ...change,
  });
  test.each([
    ["detaches", view({}), "detach"],
    ["is done for a volume that does not exist", view({ volume: undefined }), "done"],
    ["lists before it believes that", view({ volume: undefined, fresh: false }), "refresh"],
    ["is done when the volume is available", view({ volume: volume() }), "done"],
    [
      "is done when only another server has it",
      view({ volume: volume({ status: "in-use", attachments: on("n2") }) }),
      "done",
    ],
    [
      "waits while Nova detaches",
      view({ volume: volume({ status: "detaching", attachments: on("n1") }), detached: true }),
      "wait",
    ],
    [
      "waits for the end of a detach whose attachment is gone",
      view({ volume: volume({ status: "detaching" }) }),
      "wait",
    ],
    ["waits for an attach whose answer was lost", view({ volume: volume({ status: "attaching" }) }), "wait"],
    ["recovers a reservation that lasts", view({ volume: volume({ status: "reserved" }), waited: STUCK }), "recover"],
    ["lists after an accepted detach", view({ detached: true, fresh: false }), "refresh"],
    ["recovers when an accepted detach changes nothing", view({ detached: true }), "recover"],
    [
      "is done when neither Nova nor Cinder has an attachment",
      view({ volume: volume({ status: "reserved" }), released: true }),
      "done",
    ],
    [
      "detaches a volume that could not grow",
      view({ volume: volume({ status: "error_extending", attachments: on("n1") }) }),
      "detach",
    ],
  ])("%s", (_, given, expected) => expect(planUnpublish(given).type).toBe(expected));

  test("detaches from every server when no server is given", () => {
    const given = view({ volume: volume({ status: "in-use", attachments: on("n1", "n2") }), server: "" });
    expect(planUnpublish(given)).toEqual({ type: "detach", servers: ["n1", "n2"] });
  });
});

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

test.each([
  ["extends a detached volume", volume(), true, "extend"],
  ["extends an attached volume", volume({ status: "in-use" }), true, "extend"],
  [
    "does not extend an attached volume of an old cloud",
    volume({ status: "in-use" }),
    false,
    "CSI_FAILED_PRECONDITION",
  ],
  ["waits while Cinder extends", volume({ status: "extending", size: 4 }), true, "wait"],
  ["is done when the volume is large enough", volume({ size: 4 }), true, "done"],
  ["is done when the volume has exactly the size", volume({ size: 3 }), true, "done"],
  ["does not extend a volume that is being attached", volume({ status: "attaching" }), true, "CSI_FAILED_PRECONDITION"],
  ["fails when Cinder could not extend", volume({ status: "error_extending" }), true, "CSI_INTERNAL"],
])("the plan of ControllerExpandVolume %s", (_, given, online, expected) => {
  const step = planExpand(given, 3, online);
  expect(step.type === "fail" ? step.code : step.type).toBe(expected);
});
