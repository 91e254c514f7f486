import { describe, expect, test } from "vitest";
import type { PersistentVolume, PersistentVolumeClaim } from "../objects/storage.ts";
import { at } from "../testing/objects.ts";
import { plan } from "./plan.ts";

const finalizers = ["kubernetes.io/pv-protection"];
const own = { namespace: "default", name: "data", uid: "claim" };
const volume = (spec: PersistentVolume["spec"], phase: string, metadata: object = {}): PersistentVolume => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "v", uid: "v", finalizers, ...metadata },
  spec,
  status: { phase },
});
const claim = (volumeName?: string): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data", namespace: "default", uid: "claim" },
  spec: volumeName === undefined ? {} : { volumeName },
});
const csi = { driver: "csi.example.com", volumeHandle: "1" };
const provisioned = { annotations: { "pv.kubernetes.io/provisioned-by": "csi.example.com" } };

describe("a PersistentVolume", () => {
  const rows: [string, PersistentVolume, PersistentVolumeClaim | undefined, string[]][] = [
    ["is protected first", volume({}, "Pending", { finalizers: [] }), undefined, ["protect"]],
    ["without a claim is Available", volume({}, "Pending"), undefined, ["Available"]],
    [
      "that a user set aside is Available",
      volume({ claimRef: { ...own, uid: "" } }, "Pending"),
      undefined,
      ["Available"],
    ],
    ["waits for the other side", volume({ claimRef: own }, "Available"), claim(), []],
    ["is Bound", volume({ claimRef: own }, "Available"), claim("v"), ["Bound"]],
    ["remains Bound", volume({ claimRef: own }, "Bound"), claim("v"), []],
    ["is Released when its claim is gone", volume({ claimRef: own }, "Bound"), undefined, ["Released"]],
    [
      "remains Released with Retain",
      volume({ claimRef: own, persistentVolumeReclaimPolicy: "Retain" }, "Released"),
      undefined,
      [],
    ],
    [
      "is left to its provisioner with Delete",
      volume({ claimRef: own, csi, persistentVolumeReclaimPolicy: "Delete" }, "Released"),
      undefined,
      [],
    ],
    [
      "fails with Delete where nothing can delete it",
      volume({ claimRef: own, persistentVolumeReclaimPolicy: "Delete" }, "Released"),
      undefined,
      ["Failed", "VolumeFailedDelete"],
    ],
    [
      "fails with Recycle",
      volume({ claimRef: own, persistentVolumeReclaimPolicy: "Recycle" }, "Released"),
      undefined,
      ["Failed", "VolumeFailedRecycle"],
    ],
    [
      "that was chosen here becomes free when its claim has another",
      volume({ claimRef: own }, "Available", { annotations: { "pv.kubernetes.io/bound-by-controller": "yes" } }),
      claim("other"),
      ["unbind"],
    ],
    [
      "that a user set aside keeps the name",
      volume({ claimRef: own }, "Available"),
      claim("other"),
      ["unbind, keeps the name"],
    ],
    [
      "that was provisioned in vain is Released",
      volume({ claimRef: own, persistentVolumeReclaimPolicy: "Delete" }, "Available", provisioned),
      claim("other"),
      ["Released"],
    ],
    ["is kept while it is bound", volume({ claimRef: own }, "Bound", { deletionTimestamp: at(1) }), claim("v"), []],
    [
      "is given up once it is not bound",
      volume({ claimRef: own }, "Released", { deletionTimestamp: at(1) }),
      undefined,
      ["unprotect"],
    ],
  ];
  test.each(rows)("%s", (_title, object, found, expected) => {
    const { steps, events = [] } = plan({ volume: object, claim: found });
    const texts = steps.map((step) => {
      if (step.type === "set-phase") return step.phase;
      return step.type === "unbind" && step.keepsName ? "unbind, keeps the name" : step.type;
    });
    expect([...texts, ...events.map(({ reason }) => reason)]).toEqual(expected);
  });

  test.each([
    ["Delete", "VolumeFailedDelete", "no deletable volume plugin matched"],
    ["Recycle", "VolumeFailedRecycle", "No recycler plugin found for the volume!"],
  ] as const)(
    "that cannot be treated as its policy %s says is Failed, once, and says why",
    (policy, reason, message) => {
      const failing = (phase: string) =>
        plan({ volume: volume({ claimRef: own, persistentVolumeReclaimPolicy: policy }, phase), claim: undefined });
      expect(failing("Released")).toEqual({
        steps: [{ type: "set-phase", phase: "Failed", message }],
        status: undefined,
        events: [{ type: "Warning", reason, message }],
      });
      expect(failing("Failed")).toEqual({ steps: [], status: undefined });
      expect(failing("Bound")).toEqual({ steps: [{ type: "set-phase", phase: "Released" }], status: undefined });
    },
  );

  test("of a policy that it does not name is kept, and with Delete left to the provisioner that created it", () => {
    const released = (spec: PersistentVolume["spec"], metadata: object = {}) =>
      plan({ volume: volume({ claimRef: own, ...spec }, "Released", metadata), claim: undefined }).steps;
    expect(released({})).toEqual([]);
    expect(released({ persistentVolumeReclaimPolicy: "Delete" }, provisioned)).toEqual([]);
    expect(released({ persistentVolumeReclaimPolicy: "Recycle" }, provisioned)).toHaveLength(1);
  });

  test("without a status is Available, and one without finalizers that is being deleted is left alone", () => {
    const { status: _, ...bare } = volume({}, "");
    expect(plan({ volume: bare, claim: undefined }).steps).toEqual([{ type: "set-phase", phase: "Available" }]);
    const leaving = volume({}, "Available", { finalizers: undefined, deletionTimestamp: at(1) });
    expect(plan({ volume: leaving, claim: undefined }).steps).toEqual([]);
  });

  test("that was provisioned in vain and is to be retained becomes free", () => {
    const retained = volume({ claimRef: own, persistentVolumeReclaimPolicy: "Retain" }, "Available", provisioned);
    expect(plan({ volume: retained, claim: claim("other") }).steps).toEqual([{ type: "unbind", keepsName: true }]);
  });
});
