import type { GroupSnapshot, Volume, VolumeSnapshot } from "@causeway/openstack";
import { describe, expect, test } from "vitest";
import { DESCRIPTION } from "../names.ts";
import {
  independentId,
  nameOfIndependent,
  planGroupSnapshot,
  type GroupSnapshotSpec,
  type GroupSnapshotView,
} from "./plan-group-snapshot.ts";

const CREATED = "2026-01-01T00:00:01.000000";
const spec: GroupSnapshotSpec = {
  name: "gs",
  volumeIds: ["a", "b"],
  consistency: "group",
  groupType: "consistent",
  force: false,
  metadata: { cluster: "c" },
};
const group = (change: Partial<GroupSnapshot> = {}): GroupSnapshot => ({
  id: "g1",
  name: "gs",
  description: DESCRIPTION,
  group_id: "group",
  status: "available",
  created_at: CREATED,
  ...change,
});
const member = (volume_id: string, change: Partial<VolumeSnapshot> = {}): VolumeSnapshot => ({
  id: `s-${volume_id}`,
  name: "gs",
  description: null,
  volume_id,
  status: "available",
  size: 1,
  metadata: { cluster: "c" },
  created_at: CREATED,
  group_snapshot_id: "g1",
  ...change,
});
const volume = (id: string, group_id: string | null = "group") => ({ id, group_id }) as Volume;
const both = [member("a"), member("b")];
const sources = (change: object = {}, groupChange: object = {}) => ({
  volumes: [volume("a"), volume("b")],
  group: {
    group: { id: "group", name: "g", status: "available", group_type: "t", volume_types: [], ...groupChange },
    type: { id: "t", name: "consistent", is_public: true },
  },
  inGroup: ["a", "b"],
  ...change,
});
const outcomeOf = (view: Partial<GroupSnapshotView>) => {
  const now = Date.UTC(2026, 0, 1, 0, 0, 5);
  const step = planGroupSnapshot({ spec, groupSnapshots: [], snapshots: [], now, ...view });
  return step.type === "fail" ? step.code : step.type;
};

describe("the plan of a group snapshot", () => {
  const older = group({ id: "g0", created_at: "2026-01-01T00:00:00.000000" });
  const unknown = { ...spec, groupType: undefined };
  test.each<[string, Partial<GroupSnapshotView>, string]>([
    ["reads the volumes before it creates", {}, "read-volumes"],
    ["creates one for a group of exactly the volumes", { sources: sources() }, "create-group-snapshot"],
    [
      "refuses a volume that does not exist",
      { sources: sources({ volumes: [volume("a"), undefined] }) },
      "CSI_NOT_FOUND",
    ],
    [
      "refuses volumes of two groups",
      { sources: sources({ volumes: [volume("a"), volume("b", "other")] }) },
      "CSI_FAILED_PRECONDITION",
    ],
    [
      "refuses volumes without a group",
      { sources: { volumes: [volume("a", null), volume("b", null)], inGroup: [] } },
      "CSI_FAILED_PRECONDITION",
    ],
    [
      "refuses a group with more volumes",
      { sources: sources({ inGroup: ["a", "b", "c"] }) },
      "CSI_FAILED_PRECONDITION",
    ],
    [
      "refuses a group type that is not known as consistent",
      { spec: unknown, sources: sources() },
      "CSI_FAILED_PRECONDITION",
    ],
    ["waits for a group that Cinder changes", { sources: sources({}, { status: "updating" }) }, "CSI_ABORTED"],
    ["waits for one that is being created", { groupSnapshots: [group({ status: "creating" })] }, "wait"],
    ["deletes one that failed", { groupSnapshots: [group({ status: "error" })] }, "delete-group-snapshots"],
    ["retries while one is being deleted", { groupSnapshots: [group({ status: "deleting" })] }, "CSI_ABORTED"],
    ["returns that of an earlier call", { groupSnapshots: [group()], snapshots: both }, "done"],
    [
      "labels members without metadata",
      { groupSnapshots: [group()], snapshots: [member("a"), member("b", { metadata: {} })] },
      "label",
    ],
    [
      "refuses one of more volumes",
      { groupSnapshots: [group()], snapshots: [...both, member("c")] },
      "CSI_ALREADY_EXISTS",
    ],
    [
      "refuses one of as many other volumes",
      { groupSnapshots: [group()], snapshots: [member("a"), member("c")] },
      "CSI_ALREADY_EXISTS",
    ],
    ["refuses one of other volumes", { groupSnapshots: [group()], snapshots: [member("a")] }, "CSI_ALREADY_EXISTS"],
    [
      "deletes the younger of two",
      {
        groupSnapshots: [group({ id: "g2" }), older],
        snapshots: [member("a", { group_snapshot_id: "g0" }), member("b", { group_snapshot_id: "g0" })],
      },
      "delete-group-snapshots",
    ],
    [
      "keeps a failed one that another program created",
      { groupSnapshots: [group({ status: "error", description: null })] },
      "CSI_INTERNAL",
    ],
    [
      "keeps a younger one that another program created",
      {
        groupSnapshots: [group({ id: "g2", description: "by hand" }), older],
        snapshots: [member("a", { group_snapshot_id: "g0" }), member("b", { group_snapshot_id: "g0" })],
      },
      "CSI_INTERNAL",
    ],
    ["decides nothing between two of one second", { groupSnapshots: [group({ id: "g2" }), group()] }, "CSI_ABORTED"],
  ])("%s", (_, view, expected) => expect(outcomeOf(view)).toBe(expected));

  test("accepts a group type whose specs the user can read as consistent", () => {
    const type = {
      id: "t",
      name: "t",
      is_public: true,
      group_specs: { consistent_group_snapshot_enabled: "<is> True" },
    };
    const { group: of } = sources();
    expect(outcomeOf({ spec: unknown, sources: sources({ group: { ...of, type } }) })).toBe("create-group-snapshot");
  });
});

describe("the plan of one snapshot for each volume", () => {
  const each = { ...spec, consistency: "volume" as const };
  const alone = (id: string, change: Partial<VolumeSnapshot> = {}) =>
    member(id, { group_snapshot_id: null, ...change });
  test.each<[string, Partial<GroupSnapshotView>, string]>([
    ["reads the volumes before it creates", {}, "read-volumes"],
    ["creates those that are missing", { snapshots: [alone("a")], sources: sources() }, "create-snapshots"],
    [
      "refuses a volume that does not exist",
      { sources: sources({ volumes: [undefined, volume("b")] }) },
      "CSI_NOT_FOUND",
    ],
    ["waits for those that are being created", { snapshots: [alone("a", { status: "creating" })] }, "wait"],
    ["deletes those that failed", { snapshots: [alone("a"), alone("b", { status: "error" })] }, "delete-snapshots"],
    [
      "deletes the younger of two of a volume",
      { snapshots: [alone("a"), alone("a", { id: "s0", created_at: "2026-01-01T00:00:00.000000" }), alone("b")] },
      "delete-snapshots",
    ],
    ["refuses a snapshot of another volume", { snapshots: [alone("z")] }, "CSI_ALREADY_EXISTS"],
    ["retries while one is being deleted", { snapshots: [alone("a", { status: "deleting" })] }, "CSI_ABORTED"],
    [
      "decides nothing between two of one second",
      { snapshots: [alone("a"), alone("a", { id: "s0" }), alone("b")] },
      "CSI_ABORTED",
    ],
    ["returns those of an earlier call", { snapshots: [alone("a"), alone("b")] }, "done"],
  ])("%s", (_, view, expected) => expect(outcomeOf({ spec: each, ...view })).toBe(expected));
});

describe("the outcome of the plan of a group snapshot", () => {
  const now = Date.UTC(2026, 0, 1, 0, 0, 5);
  const planned = (view: Partial<GroupSnapshotView>) =>
    planGroupSnapshot({ spec, groupSnapshots: [], snapshots: [], now, ...view });
  const each = { ...spec, consistency: "volume" as const };
  const alone = (id: string, change: Partial<VolumeSnapshot> = {}) =>
    member(id, { group_snapshot_id: null, ...change });
  const unknown = { ...spec, groupType: undefined };
  const typed = (change: object) => ({ ...sources(), group: { ...sources().group, ...change } });

  test.each<[string, Partial<GroupSnapshotView>, object]>([
    [
      "of one that is being deleted",
      { groupSnapshots: [group({ status: "deleting" })] },
      { message: "The group snapshot named gs is being deleted." },
    ],
    [
      "of others' of the name",
      {
        groupSnapshots: [
          group({ status: "error", description: null }),
          group({ id: "g2", created_at: "2026-01-01T00:00:02.000000", description: null }),
        ],
      },
      {
        message: "Group snapshots of another program are named gs: g1, g2.",
        hint: "Rename or delete those that are not in use.",
      },
    ],
    ["of one that failed", { groupSnapshots: [group({ status: "error" })] }, { ids: ["g1"] }],
    [
      "of one of other volumes",
      { groupSnapshots: [group()], snapshots: [member("a"), member("c")] },
      { message: "Group snapshot g1 is named gs and is of volumes a, c." },
    ],
    [
      "of a group with more volumes",
      { sources: sources({ inGroup: ["a", "b", "c", "d"] }) },
      {
        message: "Group group has volumes that were not requested: c, d.",
        hint: "A group snapshot is of all volumes of a group; select all of them.",
      },
    ],
    [
      "of a group of an unknown type",
      { spec: unknown, sources: sources() },
      {
        hint: "Set group-type in the VolumeGroupSnapshotClass to the type that has consistent_group_snapshot_enabled.",
      },
    ],
    [
      "of volumes without a group",
      { sources: { volumes: [volume("a", null), volume("b", null)], inGroup: [] } },
      {
        message: "Volume a is not in one Cinder group with the others.",
        hint: "Put exactly these volumes into a group with consistent snapshots, or set consistency: volume in the VolumeGroupSnapshotClass.",
      },
    ],
    [
      "of snapshots that failed",
      { spec: each, snapshots: [alone("a", { status: "error" }), alone("b", { status: "error" })] },
      { ids: ["s-a", "s-b"], why: "Cinder could not create snapshots s-a, s-b." },
    ],
    [
      "of two snapshots of one second",
      { spec: each, snapshots: [alone("a"), alone("a", { id: "s0" })] },
      { message: "Several snapshots of volume a were created at once." },
    ],
    [
      "of the snapshots that are missing",
      { spec: each, snapshots: [alone("a")], sources: sources() },
      { volumeIds: ["b"] },
    ],
  ])("%s", (_title, view, expected) => expect(planned(view)).toMatchObject(expected));

  test("has a hint only where there is one", () => {
    expect(planned({ groupSnapshots: [group({ status: "deleting" })] })).not.toHaveProperty("hint");
  });

  test("is ready when all snapshots are", () => {
    const made = (...snapshots: VolumeSnapshot[]) => planned({ groupSnapshots: [group()], snapshots });
    const independent = (...snapshots: VolumeSnapshot[]) => planned({ spec: each, snapshots });
    expect(made(member("a"), member("b"))).toMatchObject({ result: { id: "g1", ready: true } });
    expect(made(member("a"), member("b", { status: "creating" }))).toMatchObject({ result: { ready: false } });
    expect(independent(alone("a"), alone("b"))).toMatchObject({ result: { id: "volumes:gs", ready: true } });
    expect(independent(alone("a"), alone("b", { status: "backing-up" }))).toMatchObject({ result: { ready: false } });
  });

  test.each([
    ["the ID of the class's type", "t", {}],
    ["its name", "consistent", {}],
    ["the ID of the group's type, which the user cannot read", "t", { type: undefined }],
  ])("accepts as declared %s", (_title, groupType, change) => {
    const of = planned({ spec: { ...spec, groupType }, sources: typed(change) });
    expect(of).toEqual({ type: "create-group-snapshot", groupId: "group" });
    expect(planned({ spec: { ...spec, groupType: "other" }, sources: typed(change) })).toHaveProperty("hint");
  });
});

test("the ID of independent snapshots has their name, and the ID of a group snapshot of Cinder has none", () => {
  expect(nameOfIndependent(independentId("gs"))).toBe("gs");
  expect(nameOfIndependent("6f70656e-7374-4163-6b20-697320666f72")).toBeUndefined();
});
