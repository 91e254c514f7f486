import { describe, expect, test } from "vitest";
import type { SharedFileSystem } from "@causeway/openstack";
import { METADATA_CLUSTER, SHARE_DESCRIPTION } from "../names.ts";
import { planAccess, type AccessStep } from "./plan-access.ts";
import { isPending, planCreate, type CreateStep } from "./plan-create.ts";
import { planSnapshot, type SnapshotStep } from "./plan-snapshot.ts";
import type { ShareSpec } from "./share-spec.ts";

type Share = SharedFileSystem.Share;

const spec = {
  name: "pvc-1",
  gib: 2,
  protocol: "NFS",
  type: "default",
  networkId: "net",
  zone: undefined,
  snapshotId: undefined,
  metadata: { [METADATA_CLUSTER]: "c" },
} as unknown as ShareSpec;
const share = (change: Partial<Share> = {}): Share =>
  ({
    id: "s1",
    name: "pvc-1",
    description: SHARE_DESCRIPTION,
    status: "available",
    size: 2,
    share_proto: "NFS",
    share_network_id: "net",
    snapshot_id: null,
    metadata: { [METADATA_CLUSTER]: "c" },
    created_at: "2026-01-01T00:00:01.000000",
    ...change,
  }) as Share;

describe("the plan of CreateVolume of Manila", () => {
  const older = share({ id: "s0", created_at: "2026-01-01T00:00:00.000000" });
  const fail = (code: string, message: string) => ({ type: "fail", code, message }) as CreateStep;
  const other = (message: string) => fail("CSI_ALREADY_EXISTS", `Share s1 is named pvc-1 and has ${message}.`);
  const plan = (existing: readonly Share[], change: Partial<ShareSpec> = {}, own?: string): CreateStep =>
    planCreate({
      spec: { ...spec, ...change },
      existing,
      now: Date.UTC(2026, 0, 1, 0, 0, 5),
      ...(own === undefined ? {} : { own }),
    });

  test.each<[string, readonly Share[], Partial<ShareSpec>, CreateStep]>([
    ["creates a share when none has the name", [], {}, { type: "create" }],
    ["returns the share of an earlier call", [share()], {}, { type: "done", share: share() }],
    ["waits for a share that is being created", [share({ status: "creating" })], {}, { type: "wait", id: "s1" }],
    [
      "waits for a share that gets its content",
      [share({ status: "creating_from_snapshot" })],
      {},
      { type: "wait", id: "s1" },
    ],
    [
      "retries while it is being deleted",
      [share({ status: "deleting" })],
      {},
      fail("CSI_ABORTED", "The share named pvc-1 is being deleted."),
    ],
    [
      "decides nothing between two of one second",
      [share(), share({ id: "s2" })],
      {},
      fail("CSI_ABORTED", "Several shares named pvc-1 were created at the same time."),
    ],
    ["refuses a share of another size", [share({ size: 3 })], {}, other("3 GiB instead of 2")],
    ["refuses another protocol", [share({ share_proto: "CEPHFS" })], {}, other("protocol CEPHFS")],
    [
      "accepts the protocol in any spelling",
      [share({ share_proto: "nfs" })],
      {},
      { type: "done", share: share({ share_proto: "nfs" }) },
    ],
    ["refuses another network", [share({ share_network_id: "x" })], {}, other("share network x instead of net")],
    [
      "refuses a share without a network",
      [share({ share_network_id: null })],
      {},
      other("share network none instead of net"),
    ],
    [
      "refuses a network that is not wanted",
      [share()],
      { networkId: undefined },
      other("share network net instead of none"),
    ],
    [
      "accepts none where none is wanted",
      [share({ share_network_id: "" })],
      { networkId: undefined },
      { type: "done", share: share({ share_network_id: "" }) },
    ],
    [
      "refuses content that is not wanted",
      [share({ snapshot_id: "x" })],
      {},
      other("source snapshot x instead of none"),
    ],
    [
      "refuses an empty share for a snapshot",
      [share()],
      { snapshotId: "x" },
      other("source snapshot none instead of x"),
    ],
    [
      "returns a share of the snapshot",
      [share({ snapshot_id: "x" })],
      { snapshotId: "x" },
      { type: "done", share: share({ snapshot_id: "x" }) },
    ],
    [
      "deletes a share that Manila could not create",
      [share({ status: "error" })],
      {},
      { type: "remove-failed", share: share({ status: "error" }) },
    ],
    [
      "deletes a share that Manila could not delete",
      [share({ status: "error_deleting" })],
      {},
      { type: "remove-failed", share: share({ status: "error_deleting" }) },
    ],
    [
      "keeps a share in error of another cluster",
      [share({ status: "error", metadata: {} })],
      {},
      fail("CSI_INTERNAL", "Share s1 named pvc-1 has status error."),
    ],
    [
      "keeps a share in error that a user made",
      [share({ status: "error", description: null })],
      {},
      fail("CSI_INTERNAL", "Share s1 named pvc-1 has status error."),
    ],
    [
      "fails for a status that it does not know",
      [share({ status: "migrating" })],
      {},
      fail("CSI_INTERNAL", "Share s1 named pvc-1 has status migrating."),
    ],
    ["deletes the younger of two", [share(), older], {}, { type: "discard", ids: ["s1"] }],
    [
      "keeps younger ones of others",
      [share({ metadata: {} }), older, share({ id: "s2", description: null })],
      {},
      fail("CSI_INTERNAL", "Other shares are named pvc-1: s1, s2. Rename or delete those that are not in use."),
    ],
  ])("%s", (_title, existing, change, expected) => expect(plan(existing, change)).toEqual(expected));

  test("deletes its own share when an older one has the name", () => {
    expect(plan([share(), older], {}, "s1")).toEqual({ type: "yield", id: "s1" });
  });

  test.each([
    ["creating", true],
    ["creating_from_snapshot", true],
    ["available", false],
  ])("counts %s as being created: %s", (status, expected) => expect(isPending(share({ status }))).toBe(expected));
});

describe("the plan of a share's access", () => {
  const rule = (client: string, change: Partial<SharedFileSystem.AccessRule> = {}) => ({
    id: `r-${client}`,
    access_type: "ip" as const,
    access_to: client,
    access_level: "rw" as const,
    state: "active",
    ...change,
  });
  const adapter = { accessType: "ip" as const, isComplete: () => true };
  const fail = (code: string, message: string) => ({ type: "fail", code, message }) as AccessStep;
  test.each<[string, readonly string[], readonly SharedFileSystem.AccessRule[], AccessStep]>([
    ["grants what is missing, one at a time", ["a", "b"], [rule("a")], { type: "grant", client: "b" }],
    [
      "does not take a rule of another type for it",
      ["a"],
      [rule("a", { access_type: "user" })],
      { type: "grant", client: "a" },
    ],
    [
      "is done when all are active",
      ["a", "b"],
      [rule("b"), rule("c"), rule("a")],
      { type: "done", rules: [rule("a"), rule("b")] },
    ],
    ["is done without clients", [], [rule("a")], { type: "done", rules: [] }],
    ["waits until all are active", ["a", "b"], [rule("a"), rule("b", { state: "applying" })], { type: "wait" }],
    [
      "removes a rule that Manila could not apply",
      ["a"],
      [rule("a", { state: "error" })],
      { type: "remove-failed", rule: rule("a", { state: "error" }) },
    ],
    [
      "waits for a rule that is queued to be removed",
      ["a"],
      [rule("a", { state: "queued_to_deny" })],
      fail("CSI_ABORTED", "Access rule r-a for a is being removed."),
    ],
    [
      "waits for a rule that is being removed",
      ["a"],
      [rule("a", { state: "denying" })],
      fail("CSI_ABORTED", "Access rule r-a for a is being removed."),
    ],
    [
      "refuses a rule for reading only",
      ["a"],
      [rule("a", { access_level: "ro" })],
      fail("CSI_FAILED_PRECONDITION", "Access rule r-a gives a only ro access."),
    ],
  ])("%s", (_title, clients, rules, expected) => expect(planAccess({ adapter, clients, rules })).toEqual(expected));

  test("waits for what the share's protocol needs of a rule", () => {
    const incomplete = { ...adapter, isComplete: () => false };
    expect(planAccess({ adapter: incomplete, clients: ["a"], rules: [rule("a")] })).toEqual({ type: "wait" });
  });
});

describe("the plan of CreateSnapshot of Manila", () => {
  const snapshot = (change: Partial<SharedFileSystem.ShareSnapshot> = {}) =>
    ({ id: "x1", name: "snap", share_id: "s1", status: "available", ...change }) as SharedFileSystem.ShareSnapshot;
  const fail = (code: string, message: string) => ({ type: "fail", code, message }) as SnapshotStep;
  const creating = snapshot({ status: "creating" });
  const failed = snapshot({ status: "error" });
  test.each<[string, readonly SharedFileSystem.ShareSnapshot[], SnapshotStep]>([
    ["creates one", [], { type: "create" }],
    ["returns that of an earlier call", [snapshot()], { type: "done", snapshot: snapshot(), ready: true }],
    ["returns one that is not ready", [creating], { type: "done", snapshot: creating, ready: false }],
    ["deletes one that Manila could not create", [failed], { type: "remove-failed", snapshot: failed }],
    [
      "retries while it is being deleted",
      [snapshot({ status: "deleting" })],
      fail("CSI_ABORTED", "Snapshot x1 named snap is being deleted."),
    ],
    [
      "fails for a status that it does not know",
      [snapshot({ status: "unmanaging" })],
      fail("CSI_INTERNAL", "Snapshot x1 has status unmanaging."),
    ],
    [
      "refuses the name of another share's",
      [snapshot({ share_id: "s2" })],
      fail("CSI_ALREADY_EXISTS", "Snapshot x1 is named snap and is of share s2."),
    ],
    [
      "does not choose between two",
      [snapshot(), snapshot({ id: "x2" })],
      fail("CSI_INTERNAL", "Several snapshots are named snap: x1, x2. Delete those that are not in use."),
    ],
  ])("%s", (_title, existing, expected) => {
    expect(planSnapshot({ name: "snap", shareId: "s1", existing })).toEqual(expected);
  });
});
