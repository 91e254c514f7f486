import type { Volume } from "@causeway/openstack";
import { describe, expect, test } from "vitest";
import { METADATA_BACKUP, METADATA_CLUSTER } from "../names.ts";
import { planExpand } from "./change-volume.ts";
import { planPublish, planUnpublish, STUCK, type AttachmentView } from "./plan-attachment.ts";
import { planCreate } from "./plan-create.ts";
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
    ["deletes a volume that Cinder could not delete", {}, [volume({ status: "error_deleting" })], "remove-failed"],
    ["waits for a volume that gets its image", {}, [volume({ status: "downloading" })], "wait"],
    ["deletes the younger of two volumes", {}, [volume(), older], "discard"],
    ["keeps a younger volume that is attached", {}, [volume({ attachments: on("n") }), older], "CSI_INTERNAL"],
    ["keeps a younger volume of another cluster", {}, [volume({ metadata: {} }), older], "CSI_INTERNAL"],
    ["ignores a second volume that is being deleted", {}, [volume({ status: "deleting" }), older], "done"],
    ["does not choose between two new volumes of the same age", {}, [volume(), volume({ id: "v2" })], "CSI_ABORTED"],
  ] as const)("%s", (_, change, existing, expected) => {
    const step = planCreate({ spec: { ...spec, ...change } as VolumeSpec, existing, now });
    expect(step.type === "fail" ? step.code : step.type).toBe(expected);
  });

  test.each<[string, readonly Volume[], object, string]>([
    ["is being deleted", [volume({ status: "deleting" })], {}, "The volume named pvc-1 is being deleted."],
    ["has other content", [volume({ snapshot_id: "s" })], {}, "Volume v1 is named pvc-1 and has content source s."],
    [
      "has no content",
      [volume()],
      { source: { type: "volume", id: "x" } },
      "Volume v1 is named pvc-1 and has no content source.",
    ],
    [
      "is one of several",
      [older, volume({ metadata: {} }), volume({ id: "v2", metadata: {} })],
      {},
      "Other volumes are named pvc-1: v1, v2. Rename or delete those that are not in use.",
    ],
  ])("says why a volume that %s is not returned", (_title, existing, change, message) => {
    expect(planCreate({ spec: { ...spec, ...change }, existing, now })).toMatchObject({ message });
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
  test.each<readonly [string, AttachmentView, string]>([
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
    ...["creating", "downloading", "restoring-backup", "backing-up", "extending", "retyping", "uploading"].map(
      (status) => [`waits while a volume is ${status}`, view({ volume: volume({ status }) }), "wait"] as const,
    ),
    ...["retyping", "backing-up", "uploading", "error_extending"].map(
      (status) =>
        [
          `is done with an attached volume that is ${status}`,
          view({ volume: volume({ status, attachments: on("n1") }) }),
          "done",
        ] as const,
    ),
    [
      "lists before it recovers a volume in use without attachments",
      view({ volume: volume({ status: "in-use" }), waited: STUCK, fresh: false }),
      "refresh",
    ],
    ["fails for a volume in error", view({ volume: volume({ status: "error" }) }), "CSI_INTERNAL"],
  ])("%s", (_, given, expected) => {
    const step = planPublish(given);
    expect(step.type === "fail" ? step.code : step.type).toBe(expected);
  });
});

test.each<[string, Volume | undefined, string]>([
  ["there is none", undefined, "The volume does not exist."],
  [
    "others have it",
    volume({ status: "in-use", attachments: on("n2", "n3") }),
    "Volume v1 is attached to server n2, n3, and is not multiattach.",
  ],
  [
    "others have its file system",
    volume({ status: "in-use", multiattach: true, attachments: on("n2") }),
    "Volume v1 is attached to server n2, and file systems cannot be mounted on two nodes.",
  ],
])("the plan of ControllerPublishVolume says why a volume is not attached: %s", (_title, of, message) => {
  const view = { volume: of, server: "n1", fresh: true, waited: 0 };
  expect(planPublish(view)).toMatchObject({ type: "fail", message });
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
    ["lists before it believes that the server does not have it", view({ volume: volume(), fresh: false }), "refresh"],
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
