import type { Pod } from "@causeway/kubernetes";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { claim, completed, observed, own, storageClass, volume, waits } from "../testing/claims.ts";
import { at, pod } from "../testing/objects.ts";
import { plan as planVolume } from "../persistentvolume/plan.ts";
import { defaultOf } from "./default-class.ts";
import type { Observed } from "./gather.ts";
import { plan } from "./plan.ts";

const marked = (name: string, secondsAgo: number, mark: string) =>
  storageClass({
    metadata: {
      name,
      creationTimestamp: at(secondsAgo),
      annotations: { "storageclass.kubernetes.io/is-default-class": mark },
    },
  });

/** The steps as text, and the reasons of the events. */
const outcome = (seen: Observed) => {
  const { steps, events = [] } = plan(seen);
  return [
    ...steps.map((step) => {
      if (step.type === "reserve-volume")
        return `reserve ${step.volume.name}${step.chosenHere ? "" : ", chosen by the user"}`;
      if (step.type === "bind-claim") return `bind to ${step.volume}${step.chosenHere ? "" : ", chosen by the user"}`;
      return step.type === "set-status" ? `is ${step.phase}` : step.type;
    }),
    ...events.map(({ reason }) => reason),
  ];
};
const selected = { annotations: { "volume.kubernetes.io/selected-node": "one" } };

describe("a PersistentVolumeClaim without a volume", () => {
  test("says that no plugin makes volumes of its class", () => {
    const inTree = storageClass({ provisioner: "kubernetes.io/unknown" });
    expect(plan(observed(claim(), { storageClass: inTree })).events).toEqual([
      { type: "Warning", reason: "ProvisioningFailed", message: "no volume plugin matched" },
    ]);
  });

  const rows: [string, Observed, string[]][] = [
    ["is protected first", observed(claim({}, { finalizers: [] })), ["protect"]],
    [
      "gets the smallest volume that is large enough",
      observed(claim(), {
        volumes: [
          volume("huge", { capacity: { storage: "9Gi" } }),
          volume("fits", { capacity: { storage: "2Gi" } }),
          volume("small", { capacity: { storage: "1Mi" } }),
        ],
      }),
      ["reserve fits"],
    ],
    [
      "does not get one of another access mode",
      observed(claim({ accessModes: ["ReadWriteMany"] }), { volumes: [volume("v")] }),
      ["set-provisioner"],
    ],
    ["does not get a released one", observed(claim(), { volumes: [volume("v", {}, "Released")] }), ["set-provisioner"]],
    [
      "does not get one that its selector refuses",
      observed(claim({ selector: { matchLabels: { a: "b" } } }), { volumes: [volume("v")] }),
      ["set-provisioner"],
    ],
    [
      "gets the one that names it first",
      observed(claim(), {
        volumes: [volume("v"), volume("mine", { claimRef: { ...own, uid: "" }, capacity: { storage: "9Gi" } })],
      }),
      ["reserve mine, chosen by the user"],
    ],
    [
      "gets the one that names it, though it is of another class and its own class is missing",
      observed(claim({ storageClassName: "gone" }), {
        volumes: [volume("mine", { claimRef: { ...own, uid: "" } })],
        storageClass: undefined,
      }),
      ["reserve mine, chosen by the user"],
    ],
    [
      "does not get one that names it and is too small",
      observed(claim(), {
        volumes: [volume("mine", { claimRef: { ...own, uid: "" }, capacity: { storage: "1Mi" } })],
      }),
      ["set-provisioner"],
    ],
    [
      "does not get one that names another",
      observed(claim(), { volumes: [volume("v", { claimRef: { ...own, uid: "x" } })] }),
      ["set-provisioner"],
    ],
    ["asks the provisioner of its class", observed(claim()), ["set-provisioner"]],
    [
      "asks the CSI driver that replaced the in-tree driver of its class",
      observed(claim({}, { annotations: { "volume.kubernetes.io/storage-provisioner": "cinder.csi.openstack.org" } }), {
        storageClass: storageClass({ provisioner: "kubernetes.io/cinder" }),
      }),
      ["ExternalProvisioning"],
    ],
    [
      "waits for the provisioner that it called",
      observed(claim({}, { annotations: { "volume.kubernetes.io/storage-provisioner": "csi.example.com" } })),
      ["ExternalProvisioning"],
    ],
    ["reports a class that is missing", observed(claim(), { storageClass: undefined }), ["ProvisioningFailed"]],
    [
      "reports a class without a provisioner",
      observed(claim(), { storageClass: storageClass({ provisioner: "kubernetes.io/no-provisioner" }) }),
      ["ProvisioningFailed"],
    ],
    [
      "without a class reports that there is none",
      observed(claim({ storageClassName: "" }), { storageClass: undefined, classes: [marked("usual", 1, "true")] }),
      ["FailedBinding"],
    ],
    [
      "that names no class gets the default one",
      observed(
        { ...claim(), spec: { accessModes: ["ReadWriteOnce"] } },
        { storageClass: undefined, classes: [marked("usual", 1, "true")] },
      ),
      ["set-class"],
    ],
    [
      "waits for its first consumer",
      observed(claim(), { storageClass: waits, volumes: [volume("v")] }),
      ["WaitForFirstConsumer"],
    ],
    [
      "waits for its consumer to be scheduled",
      observed(claim(), { storageClass: waits, pods: [pod("p", { node: "" })] }),
      ["WaitForPodScheduled"],
    ],
    [
      "is provisioned once a node is selected",
      observed(claim({}, selected), { storageClass: waits }),
      ["set-provisioner"],
    ],
    [
      "is bound to what the scheduler chose",
      observed(claim(), { storageClass: waits, volumes: [volume("v", { claimRef: own })] }),
      ["bind to v"],
    ],
    [
      "that is being deleted does nothing",
      observed(claim({}, { deletionTimestamp: at(1), finalizers: [] }), { volumes: [volume("v")] }),
      [],
    ],
  ];
  test.each(rows)("%s", (_title, seen, expected) => {
    expect(outcome(seen)).toEqual(expected);
  });
});

describe("a PersistentVolumeClaim that names its volume", () => {
  const named = (metadata: object = {}, phase = "Pending") => claim({ volumeName: "v" }, metadata, phase);
  const reserved = volume("v", { claimRef: own });
  const rows: [string, Observed, string[]][] = [
    ["waits for one that is missing", observed(named()), []],
    ["reserves it", observed(named(), { volume: volume("v") }), ["reserve v"]],
    ["names it as bound", observed(named(), { volume: reserved }), ["bind to v, chosen by the user"]],
    [
      "does not take what another has",
      observed(named(), { volume: volume("v", { claimRef: { ...own, name: "x" } }) }),
      ["FailedBinding"],
    ],
    [
      "refuses one that is too small",
      observed(named(), { volume: volume("v", { capacity: { storage: "1Mi" } }) }),
      ["VolumeMismatch"],
    ],
    ["is Bound", observed(named({ annotations: completed }), { volume: reserved }), ["is Bound"]],
    ["remains Bound", observed(named({ annotations: completed }, "Bound"), { volume: reserved }), []],
    ["is Lost without it", observed(named({ annotations: completed }, "Bound")), ["is Lost", "ClaimLost"]],
    [
      "is Lost when the volume names another",
      observed(named({ annotations: completed }, "Bound"), { volume: volume("v", { claimRef: { ...own, uid: "x" } }) }),
      ["is Lost", "ClaimMisbound"],
    ],
    [
      "repairs the other side",
      observed(named({ annotations: completed }, "Bound"), { volume: volume("v") }),
      ["reserve v"],
    ],
  ];
  test.each(rows)("%s", (_title, seen, expected) => {
    expect(outcome(seen)).toEqual(expected);
  });
});

describe("the protection of a PersistentVolumeClaim", () => {
  const leaving = claim({}, { deletionTimestamp: at(1) });
  const withVolume = (one: Pod, volume: NonNullable<Pod["spec"]["volumes"]>[number]): Pod => ({
    ...one,
    spec: { ...one.spec, volumes: [volume] },
  });
  const named = { name: "any", persistentVolumeClaim: { claimName: "data" } };
  const own = claim({}, { name: "p-any", deletionTimestamp: at(1) });
  const shutDown = {
    ...pod("p"),
    metadata: { ...pod("p").metadata, deletionTimestamp: at(1), deletionGracePeriodSeconds: 0 },
  };
  const rows: [string, Observed, string[]][] = [
    ["ends when no pod uses it", observed(leaving), ["unprotect"]],
    ["lasts while a pod on a node uses it", observed(leaving, { pods: [withVolume(pod("p"), named)] }), []],
    ["lasts while a pod that is shut down uses it", observed(leaving, { pods: [withVolume(shutDown, named)] }), []],
    [
      "lasts while it is a running pod's own",
      observed(own, { pods: [withVolume(pod("p"), { name: "any", ephemeral: {} })] }),
      [],
    ],
    [
      "ends when the pod whose own it is has been shut down",
      observed(own, { pods: [withVolume(shutDown, { name: "any", ephemeral: {} })] }),
      ["unprotect"],
    ],
    [
      "lasts while a pod that ended uses it",
      observed(leaving, { pods: [withVolume(pod("p", { phase: "Failed" }), named)] }),
      [],
    ],
    [
      "ends though a pod without a node uses it",
      observed(leaving, { pods: [withVolume(pod("p", { node: "" }), named)] }),
      ["unprotect"],
    ],
  ];
  test.each(rows)("%s", (_title, seen, expected) => {
    expect(outcome(seen)).toEqual(expected);
  });
});

test("the newest class that is marked is the default", () => {
  expect(defaultOf([marked("old", 9, "true"), marked("new", 5, "true"), marked("no", 1, "false")])?.metadata.name).toBe(
    "new",
  );
  expect(defaultOf([])).toBeUndefined();
});

test("claims and volumes settle with each volume bound to one claim at most, however they take turns", () => {
  const gib = fc.integer({ min: 1, max: 4 });
  fc.assert(
    fc.property(
      fc.array(gib, { maxLength: 5 }),
      fc.array(gib, { maxLength: 5 }),
      fc.array(fc.nat(9), { maxLength: 60 }),
      (wanted, sizes, turns) => {
        const claims = wanted.map((size, i) =>
          claim({ resources: { requests: { storage: `${size}Gi` } } }, { name: `c${i}`, uid: `c${i}` }),
        );
        const volumes = sizes.map((size, i) => volume(`v${i}`, { capacity: { storage: `${size}Gi` } }, "Pending"));
        const turnClaim = (i: number): boolean => {
          const one = claims[i];
          if (!one) return false;
          const named = volumes.find(({ metadata }) => metadata.name === one.spec.volumeName);
          const [step] = plan(observed(one, { volume: named, volumes, storageClass: undefined })).steps;
          if (!step) return false;
          if (step.type === "reserve-volume") {
            const at = volumes.findIndex(({ metadata }) => metadata.uid === step.volume.uid);
            const found = volumes[at];
            if (!found || found.spec.claimRef) throw new Error("a volume was bound twice");
            const { namespace = "", name, uid = "" } = one.metadata;
            volumes[at] = { ...found, spec: { ...found.spec, claimRef: { namespace, name, uid } } };
          } else if (step.type === "bind-claim") {
            claims[i] = {
              ...one,
              metadata: { ...one.metadata, annotations: completed },
              spec: { ...one.spec, volumeName: step.volume },
            };
          } else if (step.type === "set-status") claims[i] = { ...one, status: { phase: step.phase } };
          return true;
        };
        const turnVolume = (i: number): boolean => {
          const one = volumes[i];
          if (!one) return false;
          const owner = claims.find(({ metadata }) => metadata.uid === one.spec.claimRef?.uid);
          const [step] = planVolume({ volume: one, claim: owner }).steps;
          if (step?.type !== "set-phase") return false;
          volumes[i] = { ...one, status: { phase: step.phase } };
          return true;
        };
        for (const turn of turns) {
          if (turn < 5) turnClaim(turn);
          else turnVolume(turn - 5);
        }
        for (let more = true, round = 0; more; round++) {
          if (round > 100) throw new Error("it does not end");
          more = claims.map((_, i) => turnClaim(i)).some(Boolean);
          more = volumes.map((_, i) => turnVolume(i)).some(Boolean) || more;
        }
        const bound = claims.filter(({ status }) => status?.phase === "Bound").map(({ spec }) => spec.volumeName);
        expect(new Set(bound).size).toBe(bound.length);
        expect(volumes.filter(({ status }) => status?.phase === "Bound")).toHaveLength(bound.length);
      },
    ),
  );
});
