import { describe, expect, test } from "vitest";
import { snapshotNames, type VolumeSnapshot, type VolumeSnapshotContent } from "../snapshot-objects.ts";
import type { Observed } from "./gather.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const NAME = "cinder.csi.openstack.org";
const KEPT = [snapshotNames.boundFinalizer, snapshotNames.sourceFinalizer];
const TIME = "2025-12-31T00:00:00Z";

const snapshot = (spec: object = {}, status?: VolumeSnapshot["status"], finalizers: string[] = KEPT) =>
  ({
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshot",
    metadata: { name: "snap", namespace: "n", uid: "s", finalizers },
    spec: { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName: "fast", ...spec },
    ...(status ? { status } : {}),
  }) as VolumeSnapshot;
const content = (status: VolumeSnapshotContent["status"] = {}, ref: object = { uid: "s" }): VolumeSnapshotContent => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshotContent",
  metadata: { name: "snapcontent-s", uid: "k" },
  spec: {
    driver: NAME,
    deletionPolicy: "Delete",
    source: { volumeHandle: "v" },
    volumeSnapshotRef: { namespace: "n", name: "snap", ...ref },
  },
  status,
});
const found = (volumeMode?: string): Observed["found"] =>
  ({ volume: { metadata: { name: "pv" }, spec: { volumeMode } }, csi: { driver: NAME, volumeHandle: "v" } }) as never;
const observed = (more: Partial<Observed> = {}): Observed => ({
  driver: { name: NAME } as Observed["driver"],
  snapshot: snapshot(),
  content: undefined,
  contentName: "snapcontent-s",
  claim: { metadata: { name: "data" }, spec: {}, status: { phase: "Bound" } } as never,
  found: found(),
  snapshotClass: { driver: NAME, deletionPolicy: "Retain", metadata: { name: "fast" } } as never,
  group: undefined,
  user: undefined,
  ...more,
});
const unclassed = snapshot({ volumeSnapshotClassName: undefined });

describe("a VolumeSnapshot that cannot be made yet", () => {
  const pending = { metadata: { name: "data" }, spec: {}, status: { phase: "Pending" } } as never;
  test.each<[string, Partial<Observed>]>([
    ["there is no default VolumeSnapshotClass", { snapshot: unclassed, snapshotClass: undefined }],
    ["VolumeSnapshotClass fast is missing", { snapshotClass: undefined }],
    [
      "VolumeSnapshotContent snapcontent-s is missing",
      { snapshot: snapshot({}, { boundVolumeSnapshotContentName: "snapcontent-s" }) },
    ],
    ["PersistentVolumeClaim data is missing", { claim: undefined }],
    ["PersistentVolumeClaim data is not bound", { claim: pending }],
    [`the volume of PersistentVolumeClaim data is not of ${NAME}`, { found: undefined }],
    ["VolumeSnapshotContent snapcontent-s is of another VolumeSnapshot", { content: content({}, { uid: "earlier" }) }],
  ])("says: %s", (message, more) => {
    const seen = observed(more);
    const error = { message, time: "2026-01-01T00:00:00.000Z" };
    expect(plan(seen, NOW)).toEqual({
      steps: [],
      status: { ...seen.snapshot.status, readyToUse: false, error },
      wait: { for: message, until: NOW + 15_000 },
      events: [{ type: "Warning", reason: "SnapshotContentCreationFailed", message }],
    });
  });

  test("says so once, and since when", () => {
    const known = { error: { message: "PersistentVolumeClaim data is missing", time: TIME } };
    const { status, events } = plan(observed({ snapshot: snapshot({}, known), claim: undefined }), NOW);
    expect([status?.error, events]).toEqual([known.error, []]);
    const other = { error: { message: "another", time: TIME } };
    expect(plan(observed({ snapshot: snapshot({}, other), claim: undefined }), NOW).events).toHaveLength(1);
  });
});

describe("a VolumeSnapshot without a class", () => {
  test("is that of the driver which has its volume", () => {
    const unknown = { snapshot: unclassed, snapshotClass: undefined };
    expect(plan(observed({ ...unknown, found: undefined }), NOW)).toEqual({ steps: [], status: undefined });
    expect(plan(observed(unknown), NOW).status?.error).toBeDefined();
  });

  test("gets the default class and the finalizers before its content", () => {
    const { steps } = plan(observed({ snapshot: { ...unclassed, metadata: snapshot({}, {}, []).metadata } }), NOW);
    expect(steps.slice(0, 2)).toEqual([{ type: "set-class", name: "fast" }, { type: "protect" }]);
  });
});

test("the content of a VolumeSnapshot is of its volume, with the class's policy", () => {
  const made = (volumeMode: string): Step => ({
    type: "create-content",
    content: {
      apiVersion: "snapshot.storage.k8s.io/v1",
      kind: "VolumeSnapshotContent",
      metadata: { name: "snapcontent-s", finalizers: [snapshotNames.contentFinalizer] },
      spec: {
        driver: NAME,
        deletionPolicy: "Retain",
        source: { volumeHandle: "v" },
        sourceVolumeMode: volumeMode,
        volumeSnapshotClassName: "fast",
        volumeSnapshotRef: { namespace: "n", name: "snap", uid: "s" },
      },
    },
  });
  const message = "Waiting for a snapshot n/snap to be created by the CSI driver.";
  const events = [{ type: "Normal", reason: "CreatingSnapshot", message }];
  expect(plan(observed(), NOW)).toEqual({ steps: [made("Filesystem")], status: undefined, events });
  expect(plan(observed({ found: found("Block") }), NOW).steps).toEqual([made("Block")]);
});

describe("a VolumeSnapshot that is bound", () => {
  const bound = { boundVolumeSnapshotContentName: "snapcontent-s" };
  const ready = [{ type: "Normal", reason: "SnapshotReady", message: "Snapshot n/snap is ready to use." }];
  const error = { message: "failed", time: TIME };
  test.each<[string, VolumeSnapshotContent["status"], VolumeSnapshot["status"], object, readonly object[]]>([
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
      "has the size and the second of its content",
      { restoreSize: 2 ** 30, creationTime: 1e18 },
      undefined,
      { ...bound, readyToUse: false, restoreSize: "1Gi", creationTime: "2001-09-09T01:46:40Z" },
      [],
    ],
  ])("%s", (_title, of, before, status, events) => {
    const seen = observed({ content: content(of), snapshot: snapshot({}, before) });
    expect(plan(seen, NOW)).toStrictEqual({ steps: [], status, events });
  });

  test("is protected, and binds a content that was made for it", () => {
    const seen = observed({ content: content({}, {}), snapshot: snapshot({}, {}, []) });
    expect(plan(seen, NOW).steps).toEqual([{ type: "protect" }, { type: "bind-content" }]);
    expect(plan(observed({ content: content({}, { uid: "" }) }), NOW).steps).toEqual([{ type: "bind-content" }]);
  });
});

describe("a VolumeSnapshot that is left alone", () => {
  const nothing = { steps: [], status: undefined };
  const member = snapshot({}, {}, [...KEPT, snapshotNames.groupFinalizer]);
  test.each<[string, Partial<Observed>]>([
    ["has a content of another driver", { content: { ...content(), spec: { ...content().spec, driver: "other" } } }],
    ["is made by its group snapshot", { snapshot: member }],
    ["has a class of another driver", { snapshotClass: { driver: "other" } as never }],
  ])("%s", (_title, more) => expect(plan(observed(more), NOW)).toEqual(nothing));

  test("waits for its content's deletion", () => {
    const metadata = { ...snapshot().metadata, deletionTimestamp: TIME };
    const { wait } = plan(observed({ snapshot: { ...snapshot(), metadata }, content: content() }), NOW);
    expect(wait).toEqual({ for: "the content's deletion" });
  });
});
