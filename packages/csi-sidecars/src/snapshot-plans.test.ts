import type { CsiClient } from "@causeway/csi";
import type { PersistentVolume, PersistentVolumeClaim, VolumeAttributesClass } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { SidecarDriver } from "./context.ts";
import type { Observed as ObservedModify } from "./modify/gather.ts";
import { plan as planModify } from "./modify/plan.ts";
import type { Observed as ObservedContent } from "./snapshot-content/gather.ts";
import { plan as planContent } from "./snapshot-content/plan.ts";
import { snapshotNames, type VolumeSnapshot, type VolumeSnapshotContent } from "./snapshot-objects.ts";
import type { Observed as ObservedSnapshot } from "./snapshot/gather.ts";
import { plan as planSnapshot } from "./snapshot/plan.ts";

const NAME = "cinder.csi.openstack.org";
const driver: SidecarDriver = { name: NAME, controller: {} as CsiClient["controller"] };
const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const types = (steps: readonly { readonly type: string }[]) => steps.map(({ type }) => type);
const csi = { driver: NAME, volumeHandle: "v" };
const volume = { metadata: { name: "pv" }, spec: { csi, volumeMode: "Block" } } as unknown as PersistentVolume;
const claim = (spec: object = {}, status: object = { phase: "Bound" }, metadata: object = {}) =>
  ({ metadata: { name: "data", namespace: "n", uid: "c", ...metadata }, spec, status }) as PersistentVolumeClaim;

const content = (metadata: object = {}, spec: object = {}, status: object = {}): VolumeSnapshotContent => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshotContent",
  metadata: { name: "snapcontent-s", uid: "k", ...metadata },
  spec: {
    driver: NAME,
    deletionPolicy: "Delete",
    source: { volumeHandle: "v" },
    volumeSnapshotRef: { namespace: "n", name: "snap", uid: "s" },
    ...spec,
  },
  status,
});

describe("a VolumeSnapshot", () => {
  const kept = { finalizers: [snapshotNames.boundFinalizer, snapshotNames.sourceFinalizer] };
  const snapshot = (metadata: object = kept, more: object = {}): VolumeSnapshot => ({
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshot",
    metadata: { name: "snap", namespace: "n", uid: "s", ...metadata },
    spec: { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName: "fast" },
    ...more,
  });
  const of = (more: Partial<ObservedSnapshot> = {}): ObservedSnapshot => ({
    driver,
    snapshot: snapshot(),
    content: undefined,
    contentName: "snapcontent-s",
    claim: claim(),
    found: { volume, csi },
    snapshotClass: { driver: NAME, deletionPolicy: "Delete", metadata: { name: "fast" } } as never,
    group: undefined,
    user: undefined,
    ...more,
  });
  const leaving = snapshot({ ...kept, ...deleted });
  const ref = { namespace: "n", name: "snap" };
  const marked = { annotations: { [snapshotNames.beingDeleted]: "yes" } };
  const ofOther = { driver: "other", deletionPolicy: "Delete", metadata: { name: "fast" } } as never;
  const rows: [string, ObservedSnapshot, string[]][] = [
    ["is protected, and gets a content", of({ snapshot: snapshot({}) }), ["protect", "create-content"]],
    ["that is protected gets a content", of(), ["create-content"]],
    ["of another driver's class is left alone", of({ snapshotClass: ofOther }), []],
    ["of another driver's content is left alone", of({ content: content({}, { driver: "other" }) }), []],
    ["of a claim that is not bound waits", of({ claim: claim({}, { phase: "Pending" }) }), []],
    ["of another driver's volume waits", of({ found: undefined }), []],
    [
      "of a content that is to come waits",
      of({ snapshot: snapshot(kept, { spec: { source: { volumeSnapshotContentName: "c" } } }) }),
      [],
    ],
    ["is bound to its content", of({ content: content() }), []],
    [
      "binds a content that was made for it",
      of({ content: content({}, { volumeSnapshotRef: ref }) }),
      ["bind-content"],
    ],
    [
      "does not bind a content of another name",
      of({ content: content({}, { volumeSnapshotRef: { ...ref, name: "other" } }) }),
      [],
    ],
    [
      "does not bind a content of another namespace",
      of({ content: content({}, { volumeSnapshotRef: { ...ref, namespace: "other" } }) }),
      [],
    ],
    [
      "does not bind a content of an earlier one of its name",
      of({ content: content({}, { volumeSnapshotRef: { ...ref, uid: "earlier" } }) }),
      [],
    ],
    [
      "that is deleted deletes its content first",
      of({ snapshot: leaving, content: content() }),
      ["mark-content", "delete-content"],
    ],
    ["waits until its content is deleted", of({ snapshot: leaving, content: content({ ...marked, ...deleted }) }), []],
    [
      "that is deleted leaves a content that is retained",
      of({ snapshot: leaving, content: content({}, { deletionPolicy: "Retain" }) }),
      ["mark-content", "release"],
    ],
    [
      "that is deleted leaves the content of another one",
      of({ snapshot: leaving, content: content({}, { volumeSnapshotRef: { ...ref, uid: "other" } }) }),
      ["release"],
    ],
    ["that is deleted without a content is released", of({ snapshot: leaving }), ["release"]],
    ["remains while a claim is made of it", of({ snapshot: leaving, content: content(), user: "copy" }), []],
    ["that is not protected is left to be deleted", of({ snapshot: snapshot(deleted), content: content() }), []],
  ];
  test.each(rows)("%s", (_, seen, expected) => expect(types(planSnapshot(seen, 0).steps)).toEqual(expected));

  test("says in its status why it waits, and is ready when its content is", () => {
    const { status } = planSnapshot(of({ claim: undefined }), 0);
    expect(status).toMatchObject({ readyToUse: false, error: { message: "PersistentVolumeClaim data is missing" } });
    const known = { readyToUse: true, restoreSize: 1024 ** 3, creationTime: 1e18 };
    expect(planSnapshot(of({ content: content({}, {}, known) }), 0)).toMatchObject({
      status: { readyToUse: true, restoreSize: "1Gi", creationTime: "2001-09-09T01:46:40Z" },
      events: [{ reason: "SnapshotReady" }],
    });
  });
});

describe("a VolumeSnapshotContent", () => {
  const finalizers = [snapshotNames.contentFinalizer];
  const begun = { finalizers, annotations: { [snapshotNames.beingCreated]: "yes" } };
  const ready = { readyToUse: true, snapshotHandle: "h" };
  const given = { source: { snapshotHandle: "h" } };
  const of = (object: VolumeSnapshotContent, more: Partial<ObservedContent> = {}): ObservedContent => ({
    content: object,
    isBound: true,
    readAt: undefined,
    ...more,
  });
  const leaving = { ...deleted, finalizers };
  const freed = { ...leaving, annotations: { [snapshotNames.beingDeleted]: "yes" } };
  const rows: [string, ObservedContent, string[]][] = [
    ["is begun, then created", of(content()), ["begin", "create"]],
    ["continues after a restart", of(content(begun)), ["create"]],
    ["that is ready is left alone", of(content({ finalizers }, {}, ready)), []],
    ["that is ready is protected first", of(content({}, given, ready)), ["begin", "read"]],
    ["of a snapshot that exists is read", of(content({ finalizers }, given)), ["read"]],
    ["that was read a moment ago waits", of(content(begun), { readAt: 0 }), []],
    ["remains while its VolumeSnapshot does", of(content(leaving, {}, ready)), []],
    ["is deleted with its VolumeSnapshot", of(content(freed, {}, ready)), ["delete", "release"]],
    [
      "whose VolumeSnapshot is gone is deleted",
      of(content(leaving, {}, ready), { isBound: false }),
      ["delete", "release"],
    ],
    ["that exists by its handle is deleted", of(content(freed, given)), ["delete", "release"]],
    ["that was never begun deletes nothing", of(content(freed)), ["release"]],
    [
      "whose creation returned nothing yet is deleted by its name",
      of(content({ ...freed, annotations: { ...freed.annotations, ...begun.annotations } })),
      ["delete", "release"],
    ],
    ["that is retained is released", of(content(freed, { deletionPolicy: "Retain" }, ready)), ["release"]],
    ["that was released is left alone", of(content({ ...freed, finalizers: [] }, {}, ready)), []],
  ];
  test.each(rows)("%s", (_, seen, expected) => expect(types(planContent(seen, 1_000).steps)).toEqual(expected));

  test("says for what it waits", () => {
    const first = planContent(of(content(begun), { readAt: 1_000 }), 10_999);
    expect(first.wait).toEqual({ for: "the driver to complete the snapshot", until: 11_000 });
    expect(types(planContent(of(content(begun), { readAt: 1_000 }), 11_000).steps)).toEqual(["create"]);
    const second = planContent(of(content(leaving, {}, ready)), 0);
    expect(second.wait).toEqual({ for: "its VolumeSnapshot, which must be deleted first" });
  });

  test("without a source is only begun", () => {
    expect(types(planContent(of(content({}, { source: {} })), 0).steps)).toEqual(["begin"]);
  });
});

describe("a claim that names a VolumeAttributesClass", () => {
  const named = { volumeAttributesClassName: "gold", volumeName: "pv" };
  const attributes = (driverName = NAME) =>
    ({ metadata: { name: "gold" }, driverName, parameters: { type: "ssd" } }) as unknown as VolumeAttributesClass;
  const of = (
    object: PersistentVolumeClaim,
    given: VolumeAttributesClass | undefined = attributes(),
  ): ObservedModify => ({
    driver,
    claim: object,
    found: { volume, csi },
    attributes: given,
  });
  const progress = (status: string, target = "gold") => ({
    phase: "Bound",
    modifyVolumeStatus: { targetVolumeAttributesClassName: target, status },
  });
  const rows: [string, ObservedModify, string[], string | undefined][] = [
    ["gets its volume modified", of(claim(named)), ["begin", "modify"], undefined],
    ["continues after a restart", of(claim(named, progress("InProgress"))), ["modify"], undefined],
    [
      "begins again for another class",
      of(claim(named, progress("InProgress", "iron"))),
      ["begin", "modify"],
      undefined,
    ],
    ["that was infeasible is tried again", of(claim(named, progress("Infeasible"))), ["begin", "modify"], undefined],
    [
      "that its volume has is left alone",
      of(claim(named, { phase: "Bound", currentVolumeAttributesClassName: "gold" })),
      [],
      undefined,
    ],
    ["of no name is left alone", of(claim({ volumeAttributesClassName: "", volumeName: "pv" })), [], undefined],
    ["and is not bound is left alone", of(claim(named, { phase: "Pending" })), [], undefined],
    ["and is being deleted is left alone", of(claim(named, { phase: "Bound" }, deleted)), [], undefined],
    ["of another driver is infeasible", of(claim(named), attributes("other")), [], "Infeasible"],
  ];
  test.each(rows)("%s", (_, seen, expected, status) => {
    const planned = planModify(seen, 0);
    expect([types(planned.steps), planned.status?.status]).toEqual([expected, status]);
  });

  test("says in one event what becomes of it", () => {
    const failed = (message: string) => [{ type: "Warning", reason: "VolumeModifyFailed", message }];
    const missing = { driver, claim: claim(named), found: { volume, csi }, attributes: undefined };
    expect(planModify(missing, 0).events).toEqual(failed('VolumeAttributesClass "gold" is missing'));
    const other = planModify(of(claim(named), attributes("other")), 0);
    expect(other.events).toEqual(failed('VolumeAttributesClass "gold" is of driver other'));
    const message = "external resizer is modifying volume pv with vac gold";
    expect(planModify(of(claim(named)), 0).events).toEqual([{ type: "Normal", reason: "VolumeModify", message }]);
    expect(planModify(of(claim(named, progress("InProgress"))), 0).events).toEqual([]);
  });

  test("that is missing waits for it", () => {
    const planned = planModify({ driver, claim: claim(named), found: { volume, csi }, attributes: undefined }, 0);
    expect([planned.steps, planned.status?.status, planned.wait?.until]).toEqual([[], "Pending", 30_000]);
  });
});
