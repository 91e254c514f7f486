import { describe, expect, test } from "vitest";
import { groupNames, type VolumeGroupSnapshot, type VolumeGroupSnapshotContent } from "../group-snapshot-objects.ts";
import type { Observed } from "./gather.ts";
import { plan } from "./plan.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const NAME = "cinder.csi.openstack.org";
const API = "groupsnapshot.storage.k8s.io/v1beta2";
const TIME = "2025-12-31T00:00:00Z";
type Status = VolumeGroupSnapshot["status"];

const group = (spec: object = {}, status?: Status, finalizers: string[] = [groupNames.boundFinalizer]) =>
  ({
    apiVersion: API,
    kind: "VolumeGroupSnapshot",
    metadata: { name: "g", namespace: "n", uid: "u", finalizers },
    spec: { source: { selector: { matchLabels: { app: "db" } } }, volumeGroupSnapshotClassName: "c", ...spec },
    ...(status ? { status } : {}),
  }) as VolumeGroupSnapshot;
const content = (
  status: VolumeGroupSnapshotContent["status"] = {},
  ref: object = { namespace: "n", name: "g", uid: "u" },
  driver = NAME,
): VolumeGroupSnapshotContent => ({
  apiVersion: API,
  kind: "VolumeGroupSnapshotContent",
  metadata: { name: "groupsnapcontent-u" },
  spec: { driver, deletionPolicy: "Delete", source: { volumeHandles: ["v"] }, volumeGroupSnapshotRef: ref },
  status,
});
const found = { volume: {}, csi: { driver: NAME, volumeHandle: "v" } };
const sources = (count: number, more: object = {}, phase = "Bound") =>
  Array.from({ length: count }, (_, i) => ({
    claim: { metadata: { name: `${i}` }, status: { phase } },
    found,
    ...more,
  })) as never;
const observed = (more: Partial<Observed> = {}): Observed => ({
  driver: { name: NAME } as Observed["driver"],
  group: group(),
  content: undefined,
  contentName: "groupsnapcontent-u",
  groupClass: { metadata: { name: "c" }, driver: NAME, deletionPolicy: "Retain" } as never,
  sources: sources(1),
  members: [],
  memberContent: () => undefined,
  volume: () => undefined,
  user: undefined,
  ...more,
});
const unclassed = group({ volumeGroupSnapshotClassName: undefined });
const infos = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ volumeHandle: `${i}`, snapshotHandle: `${i}` }));

describe("a VolumeGroupSnapshot that cannot be made yet", () => {
  test.each<[string, Partial<Observed>]>([
    ["there is no default VolumeGroupSnapshotClass", { group: unclassed, groupClass: undefined }],
    ["VolumeGroupSnapshotClass c is missing", { groupClass: undefined }],
    [
      "VolumeGroupSnapshotContent groupsnapcontent-u is missing",
      { group: group({}, { boundVolumeGroupSnapshotContentName: "groupsnapcontent-u" }) },
    ],
    ["the selector matches no PersistentVolumeClaim", { sources: [] }],
    ["the selector matches 101 PersistentVolumeClaims; 100 are supported", { sources: sources(101) }],
    ["PersistentVolumeClaim 0 is not bound", { sources: sources(1, {}, "Pending") }],
    [`the volume of PersistentVolumeClaim 0 is not of ${NAME}`, { sources: sources(1, { found: undefined }) }],
    [
      "VolumeGroupSnapshotContent groupsnapcontent-u is of another VolumeGroupSnapshot",
      { content: content({}, { namespace: "n", name: "g", uid: "earlier" }) },
    ],
    [
      "VolumeGroupSnapshotContent groupsnapcontent-u is of another VolumeGroupSnapshot",
      { content: content({}, { namespace: "n", name: "other" }) },
    ],
    [
      "VolumeGroupSnapshotContent groupsnapcontent-u is of another VolumeGroupSnapshot",
      { content: content({}, { namespace: "other", name: "g" }) },
    ],
    [
      "VolumeGroupSnapshotContent groupsnapcontent-u has 101 members",
      { content: content({ volumeSnapshotInfoList: infos(101) }) },
    ],
  ])("says: %s", (message, more) => {
    const seen = observed(more);
    expect(plan(seen, NOW)).toEqual({
      steps: [],
      status: { ...seen.group.status, readyToUse: false, error: { message, time: "2026-01-01T00:00:00.000Z" } },
      wait: { for: message, until: NOW + 15_000 },
      events: [{ type: "Warning", reason: "GroupSnapshotContentCreationFailed", message }],
    });
  });

  test("says so once, and since when", () => {
    const error = { message: "the selector matches no PersistentVolumeClaim", time: TIME };
    const { status, events } = plan(observed({ group: group({}, { error }), sources: [] }), NOW);
    expect([status?.error, events]).toEqual([error, []]);
    const other = group({}, { error: { message: "another", time: TIME } });
    expect(plan(observed({ group: other, sources: [] }), NOW).events).toHaveLength(1);
  });
});

describe("the content of a VolumeGroupSnapshot", () => {
  const made = {
    type: "create-content",
    content: {
      apiVersion: API,
      kind: "VolumeGroupSnapshotContent",
      metadata: { name: "groupsnapcontent-u" },
      spec: {
        driver: NAME,
        deletionPolicy: "Retain",
        source: { volumeHandles: ["v"] },
        volumeGroupSnapshotClassName: "c",
        volumeGroupSnapshotRef: { apiVersion: API, kind: "VolumeGroupSnapshot", namespace: "n", name: "g", uid: "u" },
      },
    },
  };
  test("is of its volumes, with the class's policy", () => {
    const message = "Waiting for a group snapshot n/g to be created by the CSI driver.";
    const events = [{ type: "Normal", reason: "CreatingGroupSnapshot", message }];
    expect(plan(observed(), NOW)).toEqual({ steps: [made], status: undefined, events });
  });

  test("is made after the class is set and the finalizer is there", () => {
    const { steps } = plan(observed({ group: { ...unclassed, metadata: group({}, {}, []).metadata } }), NOW);
    expect(steps).toEqual([{ type: "set-class", name: "c" }, { type: "protect" }, made]);
  });

  test("has at most 100 volumes", () => {
    const [step] = plan(observed({ sources: sources(100) }), NOW).steps;
    expect(step?.type).toBe("create-content");
  });
});

describe("a VolumeGroupSnapshot that is bound", () => {
  const bound = { boundVolumeGroupSnapshotContentName: "groupsnapcontent-u" };
  const ready = [{ type: "Normal", reason: "GroupSnapshotReady", message: "GroupSnapshot n/g is ready to use." }];
  const error = { message: "failed", time: TIME };
  test.each<[string, VolumeGroupSnapshotContent["status"], Status, object, readonly object[]]>([
    ["is not ready at first", {}, undefined, { ...bound, readyToUse: false }, []],
    ["says what the driver said", { error }, undefined, { ...bound, readyToUse: false, error }, []],
    [
      "is ready when its content is, whatever failed before",
      { readyToUse: true, error },
      { ...bound, error },
      { ...bound, readyToUse: true },
      ready,
    ],
    [
      "is said to be ready once",
      { readyToUse: true },
      { ...bound, readyToUse: true },
      { ...bound, readyToUse: true },
      [],
    ],
    [
      "has its content's time",
      { creationTime: TIME },
      undefined,
      { ...bound, readyToUse: false, creationTime: TIME },
      [],
    ],
    ["may have 100 members", { volumeSnapshotInfoList: infos(100) }, undefined, { ...bound, readyToUse: false }, []],
  ])("%s", (_title, of, before, status, events) => {
    const seen = observed({ content: content(of), group: group({}, before) });
    expect(plan(seen, NOW)).toStrictEqual({ steps: [], status, events });
  });

  test("is protected, and binds a content that was made for it", () => {
    const ref = { namespace: "n", name: "g" };
    const seen = observed({ content: content({}, ref), group: group({}, {}, []) });
    expect(plan(seen, NOW).steps).toEqual([{ type: "protect" }, { type: "bind-content" }]);
    const empty = observed({ content: content({}, { ...ref, uid: "" }) });
    expect(plan(empty, NOW).steps).toEqual([{ type: "bind-content" }]);
  });
});

describe("a VolumeGroupSnapshot that is left alone", () => {
  const nothing = { steps: [], status: undefined };
  const leaving = (finalizers: string[]) => {
    const of = group({}, {}, finalizers);
    return { ...of, metadata: { ...of.metadata, deletionTimestamp: TIME } };
  };
  test.each<[string, Partial<Observed>]>([
    ["has a content of another driver", { content: content({}, {}, "other") }],
    ["has a class of another driver", { groupClass: { driver: "other" } as never }],
    [
      "has no class, and no volume of this driver",
      { groupClass: undefined, sources: sources(1, { found: undefined }) },
    ],
    ["waits for a content of a user", { group: group({ source: { volumeGroupSnapshotContentName: "x" } }) }],
    ["is being deleted, and was never protected", { group: leaving([]) }],
  ])("%s", (_title, more) => expect(plan(observed(more), NOW)).toEqual(nothing));

  test("waits for its content's deletion", () => {
    const { wait } = plan(observed({ group: leaving([groupNames.boundFinalizer]), content: content() }), NOW);
    expect(wait).toEqual({ for: "the content's deletion" });
  });
});
