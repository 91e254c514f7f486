import type { PersistentVolumeClaim } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { plan as planCapacity } from "./capacity/plan.ts";
import type { CSIStorageCapacity } from "./capacity/object.ts";
import type { SidecarDriver } from "./context.ts";
import type { VolumeGroupSnapshot, VolumeGroupSnapshotContent } from "./group-snapshot-objects.ts";
import { plan as planGroup } from "./group-snapshot/plan.ts";
import type { Observed as ObservedGroup } from "./group-snapshot/gather.ts";
import { plan as planGroupContent } from "./group-snapshot-content/plan.ts";
import { plan as planContent } from "./snapshot-content/plan.ts";
import { plan as planSnapshot } from "./snapshot/plan.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "./snapshot-objects.ts";

const NAME = "cinder.csi.openstack.org";
const driver = { name: NAME } as SidecarDriver;
const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const bound = "groupsnapshot.storage.kubernetes.io/volumegroupsnapshot-bound-protection";
const inGroup = "snapshot.storage.kubernetes.io/volumesnapshot-in-group-protection";
const ofContent = "groupsnapshot.storage.kubernetes.io/volumegroupsnapshotcontent-bound-protection";
const types = (steps: readonly { readonly type: string }[]) => steps.map(({ type }) => type);

describe("a VolumeGroupSnapshot", () => {
  const group = (metadata: object = {}, more: object = {}): VolumeGroupSnapshot => ({
    apiVersion: "groupsnapshot.storage.k8s.io/v1beta2",
    kind: "VolumeGroupSnapshot",
    metadata: { name: "g", namespace: "n", uid: "u", ...metadata },
    spec: { source: { selector: { matchLabels: { app: "db" } } }, ...more },
  });
  const content = (more: object = {}, status: object = {}): VolumeGroupSnapshotContent => ({
    apiVersion: "groupsnapshot.storage.k8s.io/v1beta2",
    kind: "VolumeGroupSnapshotContent",
    metadata: { name: "groupsnapcontent-u" },
    spec: {
      driver: NAME,
      deletionPolicy: "Delete",
      source: { volumeHandles: ["v"] },
      volumeGroupSnapshotRef: { namespace: "n", name: "g", uid: "u" },
      ...more,
    },
    status,
  });
  const claim = (name: string, phase = "Bound") =>
    ({ metadata: { name, namespace: "n" }, spec: {}, status: { phase } }) as PersistentVolumeClaim;
  const found = { volume: {}, csi: { driver: NAME, volumeHandle: "v" } } as never;
  const groupClass = { metadata: { name: "c" }, driver: NAME, deletionPolicy: "Delete" } as never;
  const of = (more: Partial<ObservedGroup> = {}): ObservedGroup => ({
    driver,
    group: group(),
    content: undefined,
    contentName: "groupsnapcontent-u",
    groupClass,
    sources: [{ claim: claim("a"), found }],
    members: [],
    memberContent: () => undefined,
    volume: () => undefined,
    user: undefined,
    ...more,
  });
  const info = { volumeHandle: "v", snapshotHandle: "s", readyToUse: true, restoreSize: 1 };
  const made = { volumeGroupSnapshotHandle: "gs", readyToUse: true, volumeSnapshotInfoList: [info] };
  const many = Array.from({ length: 101 }, (_, at) => ({ claim: claim(`${at}`), found }));
  const member = (more: object = {}) => ({ metadata: { name: "m", uid: "m", ...more }, spec: { source: {} } }) as never;
  const leaving = group({ ...deleted, finalizers: [bound] });
  const rows: [string, ObservedGroup, string[], string?][] = [
    ["gets a content", of(), ["set-class", "protect", "create-content"]],
    ["of another driver's class is left alone", of({ groupClass: { driver: "other" } as never }), []],
    ["without a class waits", of({ groupClass: undefined }), [], "there is no default VolumeGroupSnapshotClass"],
    ["whose selector matches nothing waits", of({ sources: [] }), [], "the selector matches no PersistentVolumeClaim"],
    ["of too many claims is refused", of({ sources: many }), [], "the selector matches 101 PersistentVolumeClaims"],
    ["waits for its claims", of({ sources: [{ claim: claim("a", "Pending"), found }] }), [], "a is not bound"],
    ["of another driver's volume is refused", of({ sources: [{ claim: claim("a"), found: undefined }] }), [], "not of"],
    ["is bound, and each member is made", of({ content: content({}, made) }), ["protect", "create-member"]],
    ["waits for the driver", of({ content: content({}, {}), group: group({ finalizers: [bound] }) }), []],
    [
      "is not bound to another's content",
      of({ content: content({ volumeGroupSnapshotRef: { namespace: "n", name: "g", uid: "x" } }) }),
      [],
      "is of another VolumeGroupSnapshot",
    ],
    ["of which a claim is being made is kept", of({ group: leaving, user: "copy" }), []],
    [
      "is deleted with its content and members",
      of({ group: leaving, content: content(), members: [member()] }),
      ["mark-content", "delete-content", "delete-members"],
    ],
    [
      "waits for its content",
      of({
        group: leaving,
        content: {
          ...content(),
          metadata: {
            name: "x",
            ...deleted,
            annotations: { "groupsnapshot.storage.kubernetes.io/volumegroupsnapshot-being-deleted": "yes" },
          },
        },
        members: [member(deleted)],
      }),
      [],
    ],
    [
      "leaves a retained content",
      of({ group: leaving, content: content({ deletionPolicy: "Retain" }) }),
      ["mark-content", "release"],
    ],
    ["without a content is released", of({ group: leaving }), ["release"]],
  ];
  test.each(rows)("%s", (_, seen, expected, problem) => {
    const { steps, status } = planGroup(seen, 0);
    expect(types(steps)).toEqual(expected);
    if (problem !== undefined) expect(status?.error?.message).toContain(problem);
  });

  test("makes its members once, under names that another controller would choose, too", () => {
    const first = planGroup(of({ content: content({}, made) }), 0).steps.at(-1);
    if (first?.type !== "create-member") throw new Error("no member is made");
    // sha256 of the uid and the volume's ID, as snapshot-controller names them.
    const id = "e6184ce10e266134fdcfa401e8f1a95005bcd4f18d16b62b757323e2833fe9a9";
    expect(first.snapshot.metadata.name).toBe(`snapshot-${id}`);
    expect(first.content.metadata.name).toBe(`snapcontent-${id}`);
    const { metadata } = first.snapshot;
    const status = { boundVolumeSnapshotContentName: first.content.metadata.name };
    const members = [{ ...first.snapshot, metadata: { ...metadata, uid: "m" }, status }];
    const seen = { content: content({}, made), members, group: group({ finalizers: [bound] }) };
    const withUid = (uid: object): VolumeSnapshotContent => ({
      ...first.content,
      spec: { ...first.content.spec, volumeSnapshotRef: { ...first.content.spec.volumeSnapshotRef, ...uid } },
      status: first.status,
    });
    expect(planGroup(of({ ...seen, memberContent: () => withUid({}) }), 0).steps).toHaveLength(1);
    expect(planGroup(of({ ...seen, memberContent: () => withUid({ uid: "m" }) }), 0).steps).toEqual([]);
  });
});

describe("a VolumeGroupSnapshotContent", () => {
  const being = (which: string) => ({
    [`groupsnapshot.storage.kubernetes.io/volumegroupsnapshot-being-${which}`]: "yes",
  });
  const of = (metadata: object, spec: object = {}, more: object = {}) => ({
    content: {
      apiVersion: "groupsnapshot.storage.k8s.io/v1beta2",
      kind: "VolumeGroupSnapshotContent",
      metadata: { name: "c", uid: "c", ...metadata },
      spec: {
        driver: NAME,
        deletionPolicy: "Delete",
        source: { volumeHandles: ["v"] },
        volumeGroupSnapshotRef: {},
        ...spec,
      },
      status: {},
    } as VolumeGroupSnapshotContent,
    isBound: true,
    readAt: undefined as number | undefined,
    ready: false,
    ...more,
  });
  const finalizers = [ofContent];
  const handles = {
    source: { groupSnapshotHandles: { volumeGroupSnapshotHandle: "gs", volumeSnapshotHandles: ["s"] } },
  };
  const rows: [string, ReturnType<typeof of>, string[]][] = [
    ["is begun, then created", of({}), ["begin", "create"]],
    ["continues after a restart", of({ finalizers, annotations: being("created") }), ["create"]],
    ["of a group snapshot that exists is read", of({ finalizers }, handles), ["read"]],
    ["is deleted after its VolumeGroupSnapshot", of({ ...deleted, finalizers }), []],
    ["that was never begun deletes nothing", of({ ...deleted, finalizers }, {}, { isBound: false }), ["release"]],
    [
      "whose creation returned nothing yet is deleted by its name",
      of({ ...deleted, finalizers, annotations: { ...being("created"), ...being("deleted") } }),
      ["delete", "release"],
    ],
    [
      "that is retained is released",
      of({ ...deleted, finalizers, annotations: being("deleted") }, { ...handles, deletionPolicy: "Retain" }),
      ["release"],
    ],
  ];
  const more: typeof rows = [
    ["that was never begun is begun though it has the finalizer", of({ finalizers }), ["begin", "create"]],
    ["that is ready is left alone", of({ finalizers }, {}, { ready: true }), []],
    ["that is ready and not protected is begun", of({}, handles, { ready: true }), ["begin", "read"]],
    [
      "whose creation has begun again is created",
      of({ finalizers, annotations: being("created") }, {}, { ready: true }),
      ["create"],
    ],
    ["without a source is only begun", of({}, { source: {} }), ["begin"]],
    ["that was released is left alone", of({ ...deleted, annotations: being("deleted") }, handles), []],
    [
      "of which nothing is in the cloud is released",
      of({ ...deleted, finalizers }, {}, { isBound: false }),
      ["release"],
    ],
  ];
  test.each([...rows, ...more])("%s", (_, { ready, ...seen }, expected) => {
    const content = { ...seen.content, status: { ...seen.content.status, readyToUse: ready } };
    expect(types(planGroupContent({ ...seen, content }, 0).steps)).toEqual(expected);
  });

  test("says for what it waits", () => {
    const seen = of({ finalizers, annotations: being("created") }, {}, { readAt: 1_000 });
    const wait = { for: "the driver to complete the group snapshot", until: 11_000 };
    expect(planGroupContent(seen, 10_999)).toEqual({ steps: [], status: undefined, wait });
    expect(types(planGroupContent(seen, 11_000).steps)).toEqual(["create"]);
    const going = planGroupContent(of({ ...deleted, finalizers }), 0);
    expect(going.wait).toEqual({ for: "its VolumeGroupSnapshot, which must be deleted first" });
  });

  test("that exists is deleted with the snapshots that it is known to have", () => {
    const metadata = { ...deleted, finalizers, annotations: being("deleted") };
    const [given] = planGroupContent(of(metadata, handles), 0).steps;
    expect(given).toEqual({ type: "delete", handle: "gs", members: ["s"] });
    const seen = of(metadata);
    const status = { volumeGroupSnapshotHandle: "made", volumeSnapshotInfoList: [{ snapshotHandle: "a" }, {}] };
    const content = { ...seen.content, status } as typeof seen.content;
    const [made] = planGroupContent({ ...seen, content }, 0).steps;
    expect(made).toEqual({ type: "delete", handle: "made", members: ["a"] });
  });
});

describe("a member of a group snapshot", () => {
  const annotations = { "groupsnapshot.storage.k8s.io/volumeGroupSnapshotHandle": "gs" };
  const content = (metadata: object): VolumeSnapshotContent => ({
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshotContent",
    metadata: { name: "c", annotations, ...metadata },
    spec: { driver: NAME, deletionPolicy: "Delete", source: { volumeHandle: "v" }, volumeSnapshotRef: {} },
  });
  const finalizers = ["snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"];
  test.each([
    ["is never created alone", { content: content({}), isBound: true, readAt: undefined }, ["protect"]],
    [
      "is never deleted alone",
      { content: content({ ...deleted, finalizers }), isBound: false, readAt: undefined },
      ["release"],
    ],
    ["that is protected is left alone", { content: content({ finalizers }), isBound: true, readAt: undefined }, []],
    ["that was released is left alone", { content: content(deleted), isBound: false, readAt: undefined }, []],
    [
      "is not released before its VolumeSnapshot is deleted",
      { content: content({ ...deleted, finalizers }), isBound: true, readAt: undefined },
      [],
    ],
  ])("%s", (_, seen, expected) => expect(types(planContent(seen, 0).steps)).toEqual(expected));

  const snapshot = (metadata: object): VolumeSnapshot => ({
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshot",
    metadata: { name: "s", namespace: "n", uid: "s", finalizers: [inGroup], ...metadata },
    spec: { source: { persistentVolumeClaimName: "a" } },
  });
  const of = (more: object) =>
    ({
      driver,
      content: undefined,
      contentName: "c",
      claim: undefined,
      found: undefined,
      snapshotClass: { driver: NAME },
      group: undefined,
      user: undefined,
      ...more,
    }) as never;
  test.each([
    ["gets no content of its own", of({ snapshot: snapshot({}), group: "g" }), []],
    ["remains while its group snapshot does", of({ snapshot: snapshot(deleted), group: "g" }), []],
    ["is released after its group snapshot", of({ snapshot: snapshot(deleted) }), ["release"]],
  ])("%s", (_, seen, expected) => expect(types(planSnapshot(seen, 0).steps)).toEqual(expected));
});

describe("CSIStorageCapacity objects", () => {
  const place = (className: string, zone: string, gib?: bigint) => ({
    className,
    segments: { zone },
    capacity: gib === undefined ? undefined : { available: gib << 30n, largest: undefined },
  });
  const [first] = planCapacity({ driver: NAME, places: [place("fast", "a", 5n)], existing: [] }, 0).steps;
  const object = first?.object as CSIStorageCapacity;
  const rows: [string, ReturnType<typeof place>[], CSIStorageCapacity[], string[]][] = [
    ["of a new class and zone are created", [place("fast", "a", 5n), place("fast", "b", 1n)], [], ["create", "create"]],
    ["that did not change are left alone", [place("fast", "a", 5n)], [object], []],
    ["that changed are updated", [place("fast", "a", 4n)], [object], ["update"]],
    ["that cannot be read now remain", [place("fast", "a")], [object], []],
    ["of a class or zone that is gone are deleted", [place("fast", "b")], [object], ["delete"]],
    [
      "that another process published twice are deleted once",
      [place("fast", "a", 5n)],
      [object, { ...object }],
      ["delete"],
    ],
  ];
  test.each(rows)("%s", (_, places, existing, expected) => {
    const { steps, wait } = planCapacity({ driver: NAME, places, existing }, 1_000);
    expect(types(steps)).toEqual(expected);
    expect(wait?.until).toBe(61_000);
  });
  test("of a class without topology match all nodes", () => {
    const capacity = { available: 1n << 30n, largest: 1n << 29n };
    const { steps, wait } = planCapacity(
      { driver: NAME, places: [{ className: "x", segments: {}, capacity }], existing: [] },
      0,
    );
    expect(steps).toMatchObject([{ object: { nodeTopology: {}, capacity: "1Gi", maximumVolumeSize: "512Mi" } }]);
    expect(steps[0]?.object.nodeTopology).not.toHaveProperty("matchLabels");
    expect(wait?.for).toBe("the next reading of the capacities");
  });
  test("are those of csi-provisioner", () =>
    expect(object).toMatchObject({
      apiVersion: "storage.k8s.io/v1",
      kind: "CSIStorageCapacity",
      metadata: {
        name: expect.stringMatching(/^csisc-[0-9a-f]{16}$/),
        namespace: "kube-system",
        labels: { "csi.storage.k8s.io/drivername": NAME, "csi.storage.k8s.io/managed-by": "external-provisioner" },
      },
      storageClassName: "fast",
      nodeTopology: { matchLabels: { zone: "a" } },
      capacity: "5Gi",
    }));
});
