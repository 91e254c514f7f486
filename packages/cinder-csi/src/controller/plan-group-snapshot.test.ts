import type { GroupSnapshot, Volume, VolumeSnapshot } from "@causeway/openstack";
import { describe, expect, test } from "vitest";
import { DESCRIPTION } from "../names.ts";
import { planGroupSnapshot, type GroupSnapshotSpec, type GroupSnapshotView } from "./plan-group-snapshot.ts";

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
    ["returns those of an earlier call", { snapshots: [alone("a"), alone("b")] }, "done"],
  ])("%s", (_, view, expected) => expect(outcomeOf({ spec: each, ...view })).toBe(expected));
});
