import { describe, expect, test } from "vitest";
import { claim, completed, observed, own, storageClass, volume, waits, type ClaimSpec } from "../testing/claims.ts";
import { pod } from "../testing/objects.ts";
import type { Observed } from "./gather.ts";
import { plan } from "./plan.ts";

describe("a PersistentVolumeClaim is reported", () => {
  const boundTo = (phase: string, more: ClaimSpec = { volumeName: "v" }) =>
    claim(more, { annotations: completed }, phase);
  const lost = "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
  const external =
    "Waiting for a volume to be created either by the external provisioner 'csi.example.com' or manually by the system administrator. " +
    "If volume creation is delayed, please verify that the provisioner is running and correctly registered.";
  const called = { annotations: { "volume.kubernetes.io/storage-provisioner": "csi.example.com" } };
  const tooSmall = volume("v", { capacity: { storage: "1Mi" } });
  const unscheduled = pod("second", { node: "" });

  test.each<[string, Observed, "Normal" | "Warning", string, string | RegExp]>([
    [
      "without the name of its volume",
      observed(boundTo("Bound", {})),
      "Warning",
      "ClaimLost",
      /^Bound claim has lost reference to PersistentVolume/,
    ],
    ["without its volume", observed(boundTo("Bound")), "Warning", "ClaimLost", lost],
    [
      "whose volume is another's",
      observed(boundTo("Bound"), { volume: volume("v", { claimRef: { ...own, uid: "x" } }) }),
      "Warning",
      "ClaimMisbound",
      "Two claims are bound to the same volume, this one is bound incorrectly",
    ],
    [
      "that names what another has",
      observed(claim({ volumeName: "v" }), { volume: volume("v", { claimRef: { ...own, name: "x" } }) }),
      "Warning",
      "FailedBinding",
      'volume "v" already bound to a different claim.',
    ],
    [
      "that names what does not fit",
      observed(claim({ volumeName: "v" }), { volume: tooSmall }),
      "Warning",
      "VolumeMismatch",
      /^Cannot bind to requested volume "v": .+/,
    ],
    [
      "that waits for a pod to be scheduled",
      observed(claim(), { storageClass: waits, pods: [pod("first"), unscheduled] }),
      "Normal",
      "WaitForPodScheduled",
      "waiting for pod second to be scheduled",
    ],
    [
      "that waits for a pod",
      observed(claim(), { storageClass: waits, pods: [pod("first")] }),
      "Normal",
      "WaitForFirstConsumer",
      "waiting for first consumer to be created before binding",
    ],
    [
      "without a class",
      observed(claim({ storageClassName: "" })),
      "Normal",
      "FailedBinding",
      "no persistent volumes available for this claim and no storage class is set",
    ],
    [
      "of a class that is missing",
      observed(claim(), { storageClass: undefined }),
      "Warning",
      "ProvisioningFailed",
      'storageclass.storage.k8s.io "fast" not found',
    ],
    ["that a provisioner is to serve", observed(claim({}, called)), "Normal", "ExternalProvisioning", external],
  ])("%s", (_what, seen, type, reason, message) => {
    const text = typeof message === "string" ? message : (expect.stringMatching(message) as string);
    expect(plan(seen).events).toEqual([{ type, reason, message: text }]);
  });

  test("as Lost once, and as Pending until it is", () => {
    expect(plan(observed(boundTo("Lost")))).toEqual({ steps: [], status: undefined });
    expect(plan(observed(claim({ volumeName: "v" }, {}, "")))).toEqual({
      steps: [{ type: "set-status", phase: "Pending" }],
      status: undefined,
    });
  });

  test("as Bound with what its volume has, which is reserved with the revision that was read", () => {
    const found = volume("v", { claimRef: own });
    const status = { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } };
    expect(plan(observed(boundTo("Pending"), { volume: found })).steps).toEqual([
      { type: "set-status", phase: "Bound", ...status },
    ]);
    const { accessModes: _modes, capacity: _capacity, ...bare } = found.spec;
    expect(plan(observed(boundTo("Pending"), { volume: { ...found, spec: bare } })).steps).toEqual([
      { type: "set-status", phase: "Bound" },
    ]);
    const target = { namespace: "", name: "v", uid: "v" };
    expect(plan(observed(claim(), { volumes: [volume("v")] })).steps).toEqual([
      { type: "reserve-volume", volume: target, resourceVersion: "3", chosenHere: true },
    ]);
    expect(plan(observed(boundTo("Bound"), { volume: found })).steps).toEqual([]);
    expect(plan(observed(claim({ volumeName: "v" }, {}, "Bound"), { volume: found })).steps).toEqual([
      { type: "bind-claim", volume: "v", chosenHere: false },
    ]);
  });
});

test.each([
  ["kubernetes.io/aws-ebs", "ebs.csi.aws.com"],
  ["kubernetes.io/azure-disk", "disk.csi.azure.com"],
  ["kubernetes.io/azure-file", "file.csi.azure.com"],
  ["kubernetes.io/cinder", "cinder.csi.openstack.org"],
  ["kubernetes.io/gce-pd", "pd.csi.storage.gke.io"],
  ["kubernetes.io/portworx-volume", "pxd.portworx.com"],
  ["kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"],
])("the CSI driver that replaced %s is %s", (provisioner, driver) => {
  const { steps } = plan(observed(claim(), { storageClass: storageClass({ provisioner }) }));
  expect(steps).toEqual([{ type: "set-provisioner", provisioner: driver }]);
});
