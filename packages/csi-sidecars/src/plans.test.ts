import type { CsiClient } from "@causeway/csi";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { plan as planAttach } from "./attach/plan.ts";
import type { SidecarDriver } from "./context.ts";
import type { Observed } from "./provision/gather.ts";
import { plan as planProvision } from "./provision/plan.ts";
import { plan as planReclaim } from "./reclaim/plan.ts";
import { plan as planResize } from "./resize/plan.ts";

const NAME = "cinder.csi.openstack.org";
// Plans call nothing.
const driver: SidecarDriver = { name: NAME, controller: {} as CsiClient["controller"] };
const asked = { "volume.kubernetes.io/storage-provisioner": NAME };
const claim = (fields: { metadata?: object; spec?: object; status?: object } = {}): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data", namespace: "default", uid: "u", annotations: asked, ...fields.metadata },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...fields.spec },
  status: { phase: "Pending", ...fields.status },
});
const storageClass = (fields: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "fast" },
  provisioner: NAME,
  ...fields,
});
const volume = (fields: { metadata?: object; spec?: object; status?: object } = {}): PersistentVolume => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "pvc-u", uid: "v", ...fields.metadata },
  spec: { persistentVolumeReclaimPolicy: "Delete", capacity: { storage: "1Gi" }, ...fields.spec },
  status: { phase: "Bound", ...fields.status },
});
const csi = { driver: NAME, volumeHandle: "id" };

describe("a claim", () => {
  const observed = (fields: Partial<Observed> = {}): Observed => ({
    driver,
    claim: claim(),
    storageClass: storageClass(),
    volume: undefined,
    source: { type: "empty" },
    attributes: { type: "none" },
    topology: { type: "none" },
    pending: undefined,
    ...fields,
  });
  const delayed = storageClass({ volumeBindingMode: "WaitForFirstConsumer" });
  const selected = { ...asked, "volume.kubernetes.io/selected-node": "one" };
  const leaving = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  const rows: [string, Observed, string[]][] = [
    ["is provisioned", observed(), ["provision pvc-u"]],
    ["is not provisioned twice", observed({ volume: volume() }), []],
    ["of another driver is left alone", observed({ claim: claim({ metadata: { annotations: {} } }) }), []],
    ["that is bound is left alone", observed({ claim: claim({ spec: { volumeName: "x" } }) }), []],
    ["that is being deleted is left alone", observed({ claim: claim({ metadata: leaving }) }), []],
    ["waits for its first consumer", observed({ storageClass: delayed }), []],
    [
      "is provisioned once a node is selected",
      observed({ storageClass: delayed, claim: claim({ metadata: { annotations: selected } }) }),
      ["provision pvc-u"],
    ],
    ["without a StorageClass waits", observed({ storageClass: undefined }), ["ProvisioningFailed"]],
    ["without a size waits", observed({ claim: claim({ spec: { resources: {} } }) }), ["ProvisioningFailed"]],
    ["waits for its source", observed({ source: { type: "waiting", why: "w" } }), ["ProvisioningFailed"]],
    ["waits for a zone", observed({ topology: { type: "waiting", why: "w" } }), ["ProvisioningFailed"]],
    ["of a populator is left alone", observed({ source: { type: "other", why: "w" } }), []],
    ["that is gone leaves no volume", observed({ claim: undefined, pending: { name: "pvc-u" } }), ["abandon pvc-u"]],
    [
      "that replaced another leaves no volume of that one",
      observed({ pending: { name: "pvc-old" } }),
      ["abandon pvc-old"],
    ],
    [
      "that is being deleted leaves no volume",
      observed({ claim: claim({ metadata: leaving }), pending: { name: "pvc-u" } }),
      ["abandon pvc-u"],
    ],
    ["continues with what it began", observed({ pending: { name: "pvc-u" } }), ["provision pvc-u"]],
  ];
  test.each(rows)("%s", (_, seen, expected) => {
    const { steps, events = [] } = planProvision(seen, 0);
    const warnings = events.filter(({ type }) => type === "Warning").map(({ reason }) => reason);
    expect([...steps.map(({ type, name }) => `${type} ${name}`), ...warnings]).toEqual(expected);
  });
});

describe("a volume", () => {
  const released = volume({ spec: { csi }, status: { phase: "Released" } });
  const of = (object: PersistentVolume, more: object = {}) => ({
    volume: object,
    csi,
    isProvisioned: true,
    attachments: [],
    isDeleted: false,
    ...more,
  });
  const finalizers = ["external-provisioner.volume.kubernetes.io/finalizer"];
  const leaving = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers };
  const attachment = { spec: { nodeName: "one" } } as unknown as VolumeAttachment;
  const rows: [string, ReturnType<typeof of>, string[]][] = [
    ["of a claim remains", of(volume({ spec: { csi } })), []],
    ["that is released is deleted", of(released), ["delete-volume"]],
    ["that is released and attached remains", of(released, { attachments: [attachment] }), []],
    ["that another program provisioned remains", of(released, { isProvisioned: false }), []],
    [
      "with the policy Retain remains",
      of({ ...released, spec: { ...released.spec, persistentVolumeReclaimPolicy: "Retain" } }),
      [],
    ],
    ["that the driver deleted loses its object", of(released, { isDeleted: true }), ["delete-object"]],
    [
      "that the driver deleted loses its object, which is then released",
      of({ ...released, metadata: { ...released.metadata, finalizers } }, { isDeleted: true }),
      ["delete-object", "remove-finalizer"],
    ],
    [
      "that the driver deleted is released when its object is deleted already",
      of({ ...released, metadata: { ...released.metadata, ...leaving } }, { isDeleted: true }),
      ["remove-finalizer"],
    ],
    [
      "with the policy Retain remains while its object does",
      of(volume({ metadata: { finalizers }, spec: { csi, persistentVolumeReclaimPolicy: "Retain" } })),
      [],
    ],
    [
      "with the policy Retain that was released is left alone",
      of(
        volume({
          metadata: { ...leaving, finalizers: [] },
          spec: { csi, persistentVolumeReclaimPolicy: "Retain" },
        }),
      ),
      [],
    ],
    [
      "whose object is deleted first is deleted, too",
      of(volume({ metadata: leaving, spec: { csi }, status: { phase: "Released" } })),
      ["delete-volume"],
    ],
    [
      "with the policy Retain is released when its object is deleted",
      of(volume({ metadata: leaving, spec: { csi, persistentVolumeReclaimPolicy: "Retain" } })),
      ["remove-finalizer"],
    ],
    [
      "whose object is deleted before a claim has it is deleted, too",
      of(volume({ metadata: leaving, spec: { csi }, status: { phase: "Available" } })),
      ["delete-volume"],
    ],
    ["that is available remains", of(volume({ spec: { csi }, status: { phase: "Available" } })), []],
    ["of a claim remains when its object is deleted", of(volume({ metadata: leaving, spec: { csi } })), []],
  ];
  test.each(rows)("%s", (_, seen, expected) => {
    expect(planReclaim(seen).steps.map(({ type }) => type)).toEqual(expected);
  });
});

describe("a VolumeAttachment", () => {
  const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  const finalizer = "external-attacher/cinder-csi-openstack-org";
  const recorded = { finalizers: [finalizer], annotations: { "csi.alpha.kubernetes.io/node-id": "server" } };
  const attachment = (metadata: object = {}, status: object = {}): VolumeAttachment => ({
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    metadata: { name: "a", ...metadata },
    spec: { attacher: NAME, nodeName: "one", source: { persistentVolumeName: "pvc-u" } },
    status,
  });
  const found = { volume: volume({ metadata: { finalizers: [finalizer] }, spec: { csi } }), csi };
  const of = (object: VolumeAttachment, more: object = {}) => ({
    driver,
    attachment: object,
    found,
    nodeId: "server" as string | undefined,
    others: 0,
    ...more,
  });
  const leaving = { deletionTimestamp: "2026-01-01T00:00:00Z", ...recorded };
  const gone = { volume: volume({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }), csi };
  const rows: [string, ReturnType<typeof of>, string[]][] = [
    ["is protected, then published", of(attachment()), ["protect", "publish"]],
    ["that is protected is published", of(attachment(recorded)), ["publish"]],
    ["that is attached is left alone", of(attachment(recorded, { attached: true })), []],
    ["of a node without the driver waits", of(attachment(), { nodeId: undefined }), ["attach"]],
    ["of a missing volume waits", of(attachment(), { found: undefined }), ["attach"]],
    ["of a volume that is being deleted waits", of(attachment(), { found: gone }), ["attach"]],
    ["that is deleted is unpublished first", of(attachment(leaving)), ["unpublish", "release"]],
    [
      "is the last of a volume that is being deleted, and releases it",
      of(attachment(leaving), { found: gone }),
      ["unpublish", "release-volume", "release"],
    ],
    [
      "of a volume that is being deleted and has others keeps the volume",
      of(attachment(leaving), { found: gone, others: 1 }),
      ["unpublish", "release"],
    ],
    [
      "of a volume that is being deleted and that it protects is published",
      of(attachment(recorded), {
        found: { ...found, volume: volume({ metadata: { ...deleted, finalizers: [finalizer] } }) },
      }),
      ["publish"],
    ],
    [
      "of a node that registered another ID records it",
      of(attachment(recorded), { nodeId: "new" }),
      ["protect", "publish"],
    ],
    ["that was released is left alone", of(attachment({ ...leaving, finalizers: [] })), []],
    ["of a missing volume is not released", of(attachment(leaving), { found: undefined }), ["detach"]],
    ["of a node that is gone is not released", of(attachment(leaving), { nodeId: undefined }), ["detach"]],
    [
      "whose volume is protected and that is not is protected first",
      of(attachment({ annotations: recorded.annotations })),
      ["protect", "publish"],
    ],
    [
      "that is protected and whose volume is not protects it first",
      of(attachment(recorded), { found: { volume: volume({ spec: { csi } }), csi } }),
      ["protect", "publish"],
    ],
  ];
  test.each(rows)("%s", (_, seen, expected) => {
    const { steps, status } = planAttach(seen, 0);
    expect([...steps.map(({ type }) => type), ...(status ? [status.kind] : [])]).toEqual(expected);
  });

  test("of a volume that is being deleted says so, and is tried again", () => {
    const message = "PersistentVolume is marked for deletion";
    const wait = { for: message, until: 31_000 };
    const blocked = { steps: [], status: { kind: "attach", message }, wait };
    expect(planAttach(of(attachment(), { found: gone }), 1_000)).toEqual(blocked);
  });
});

describe("a claim that requests more", () => {
  const grown = (conditions: string[], spec: object = { resources: { requests: { storage: "2Gi" } } }) =>
    claim({
      spec,
      status: {
        phase: "Bound",
        capacity: { storage: "1Gi" },
        conditions: conditions.map((type) => ({ type, status: "True" })),
      },
    });
  const of = (object: PersistentVolumeClaim, storage = "1Gi") => ({
    claim: object,
    found: { volume: volume({ spec: { csi, capacity: { storage } } }), csi },
  });
  const rows: [string, ReturnType<typeof of>, string[]][] = [
    ["than it has is grown", of(grown([])), ["begin", "expand"]],
    ["continues after a restart", of(grown(["Resizing"])), ["expand"]],
    ["waits for its node", of(grown(["FileSystemResizePending"]), "2Gi"), []],
    ["again while its node waits is grown again", of(grown(["FileSystemResizePending"]), "1Gi"), ["begin", "expand"]],
    ["than it does is left alone", of(grown([], { resources: { requests: { storage: "1Gi" } } })), []],
    ["and is not bound is left alone", of({ ...grown([]), status: { ...grown([]).status, phase: "Lost" } }), []],
    [
      "and is being deleted is left alone",
      of({ ...grown([]), metadata: { ...grown([]).metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }),
      [],
    ],
    ["without a size of its own is left alone", of(claim({ spec: grown([]).spec, status: { phase: "Bound" } })), []],
  ];
  test.each(rows)("%s", (_, seen, expected) => {
    expect(planResize(seen).steps.map(({ type }) => type)).toEqual(expected);
  });

  test("says that it is grown, and to how much", () => {
    const planned = planResize(of(grown([])));
    expect(planned.steps).toEqual([
      { type: "begin", bytes: 2n ** 31n },
      { type: "expand", bytes: 2n ** 31n },
    ]);
    const message = "External resizer is resizing volume pvc-u";
    expect(planned.events).toEqual([{ type: "Normal", reason: "Resizing", message }]);
  });
});
