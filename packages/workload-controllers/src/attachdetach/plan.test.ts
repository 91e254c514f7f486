import { describe, expect, test } from "vitest";
import type { Node } from "@causeway/kubernetes";
import type { PersistentVolume, VolumeAttachment } from "../objects/storage.ts";
import { at, now, pod } from "../testing/objects.ts";
import { attachmentName, attachmentOf } from "./attachment.ts";
import type { Observed } from "./gather.ts";
import { plan, unmountTimeout } from "./plan.ts";

const volume = (name: string, accessModes = ["ReadWriteOnce"]): PersistentVolume => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name, uid: name },
  spec: { accessModes, csi: { driver: "csi.example.com", volumeHandle: name } },
});
const unique = (name: string) => `kubernetes.io/csi/csi.example.com^${name}`;
const attachment = (name: string, attached: boolean, metadata: object = {}): VolumeAttachment => {
  const made = attachmentOf(volume(name), "one");
  return { ...made, metadata: { ...made.metadata, uid: name, ...metadata }, status: { attached } };
};
const node = (
  inUse: string[],
  listed: string[],
  more: { ready?: string; taint?: string; annotations?: object } = {},
): Node =>
  ({
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: "one",
      uid: "one",
      annotations: more.annotations ?? { "volumes.kubernetes.io/controller-managed-attach-detach": "true" },
    },
    spec: { taints: more.taint ? [{ key: more.taint, effect: "NoExecute" }] : [] },
    status: {
      conditions: [{ type: "Ready", status: more.ready ?? "True" }],
      volumesInUse: inUse.map(unique),
      volumesAttached: listed.map((name) => ({ name: unique(name), devicePath: "" })),
    },
  }) as unknown as Node;
const observed = (
  found: Node | undefined,
  needs: PersistentVolume[],
  attachments: VolumeAttachment[],
  more: Partial<Observed> = {},
): Observed => ({
  name: "one",
  node: found,
  needs: needs.map((each) => ({ volume: each, pods: [pod("p")] })),
  attachments,
  nodesOf: () => [],
  volumeOf: (name) => volume(name),
  idleSince: () => now,
  ...more,
});
const stepsOf = (seen: Observed) =>
  plan(seen, now).steps.map((step) => {
    if (step.type === "create-attachment") return `attach ${step.attachment.spec.source.persistentVolumeName}`;
    if (step.type === "delete-attachment") return `detach ${step.target.uid}`;
    return `list ${step.names.map((name) => name.split("^")[1]).join()}`;
  });

test("a volume of the in-tree Cinder driver is attached, listed and detached as the CSI driver's", () => {
  const { csi: _, ...spec } = volume("old").spec;
  const inTree = { ...volume("old"), spec: { ...spec, cinder: { volumeID: "a-volume" } } };
  const more = { volumeOf: () => inTree };
  const name = "kubernetes.io/csi/cinder.csi.openstack.org^a-volume";
  const first = plan(observed(node([], []), [inTree], [], more), now).steps;
  expect(first).toMatchObject([
    {
      type: "create-attachment",
      attachment: {
        metadata: { name: attachmentName({ driver: "cinder.csi.openstack.org", volumeHandle: "a-volume" }, "one") },
        spec: { attacher: "cinder.csi.openstack.org", source: { persistentVolumeName: "old" } },
      },
    },
  ]);
  const attached = { ...attachmentOf(inTree, "one"), status: { attached: true } };
  expect(plan(observed(node([], []), [inTree], [attached], more), now).steps).toMatchObject([{ names: [name] }]);
  expect(plan(observed(node([], []), [], [attached], more), now).steps).toMatchObject([
    { type: "delete-attachment", unlessUsed: name },
  ]);
});

describe("the volumes of a node", () => {
  test("are detached on condition that the server's Node does not list them as in use, unless it is forced", () => {
    const conditions = (found: Node | undefined) =>
      plan(observed(found, [], [attachment("v", true)]), now).steps.flatMap((step) =>
        step.type === "delete-attachment" ? [step.unlessUsed] : [],
      );
    expect(conditions(node([], []))).toEqual([unique("v")]);
    expect(conditions(node(["v"], [], { taint: "node.kubernetes.io/out-of-service" }))).toEqual([undefined]);
    expect(conditions(undefined)).toEqual([undefined]);
  });

  const silent = { ready: "Unknown" };
  const rows: [string, Observed, string[]][] = [
    ["are attached when pods need them", observed(node([], []), [volume("v")], []), ["attach v"]],
    ["are not listed before they are attached", observed(node([], []), [volume("v")], [attachment("v", false)]), []],
    ["are listed once they are attached", observed(node([], []), [volume("v")], [attachment("v", true)]), ["list v"]],
    ["remain", observed(node(["v"], ["v"]), [volume("v")], [attachment("v", true)]), []],
    ["remain while the node uses them", observed(node(["v"], ["v"]), [], [attachment("v", true)]), []],
    [
      "are detached once it does not, and no longer listed first",
      observed(node([], ["v"]), [], [attachment("v", true)]),
      ["list ", "detach v"],
    ],
    ["are detached once", observed(node([], []), [], [attachment("v", true, { deletionTimestamp: at(1) })]), []],
    ["remain on a silent node for six minutes", observed(node(["v"], ["v"], silent), [], [attachment("v", true)]), []],
    [
      "are detached from a silent node after six minutes",
      observed(node(["v"], ["v"], silent), [], [attachment("v", true)], { idleSince: () => now - unmountTimeout }),
      ["list ", "detach v"],
    ],
    [
      "are detached from a node out of service at once",
      observed(node(["v"], [], { ...silent, taint: "node.kubernetes.io/out-of-service" }), [], [attachment("v", true)]),
      ["list v", "detach v"].slice(1),
    ],
    ["are detached from a node that is gone", observed(undefined, [], [attachment("v", true)]), ["detach v"]],
    [
      "wait until another node has detached them",
      observed(node([], []), [volume("v")], [], { nodesOf: () => ["two"] }),
      [],
    ],
    [
      "that may be shared do not wait",
      observed(node([], []), [volume("v", ["ReadWriteMany"])], [], { nodesOf: () => ["two"] }),
      ["attach v"],
    ],
    [
      "of nodes that attach for themselves are left alone",
      observed(node([], [], { annotations: {} }), [volume("v")], []),
      [],
    ],
    ["of other programs are left alone", observed(node([], []), [], [attachment("v", true, { name: "theirs" })]), []],
  ];
  test.each(rows)("%s", (_title, seen, expected) => {
    expect(stepsOf(seen)).toEqual(expected);
  });

  test("are waited for when the node is silent", () => {
    const seen = observed(node(["v"], ["v"], silent), [], [attachment("v", true)]);
    expect(plan(seen, now).wait?.until).toBe(now + unmountTimeout);
  });

  test("that cannot be attached are reported on the pods", () => {
    const failed = { ...attachment("v", false), status: { attached: false, attachError: { message: "no room" } } };
    const messages = (seen: Observed) => plan(seen, now).status.map(({ event }) => event.message);
    expect(messages(observed(node([], []), [volume("v")], [failed]))).toEqual([
      'AttachVolume.Attach failed for volume "v" : no room',
    ]);
    expect(messages(observed(node([], []), [volume("v")], [], { nodesOf: () => ["two"] }))).toEqual([
      'Multi-Attach error for volume "v" Volume is already exclusively attached to one node and can\'t be attached to another',
    ]);
  });
});

describe("the attachment of a node's volumes", () => {
  test("is exclusive unless the volume may be shared", () => {
    const created = (modes: string[]) =>
      plan(observed(node([], []), [volume("v", modes)], []), now).steps.map((step) =>
        step.type === "create-attachment" ? step.isExclusive : step.type,
      );
    expect(created(["ReadWriteOnce"])).toEqual([true]);
    expect(created(["ReadWriteMany"])).toEqual([false]);
  });

  test("does not wait for this node itself", () => {
    const here = observed(node([], []), [volume("v")], [], { nodesOf: () => ["one"] });
    expect(stepsOf(here)).toEqual(["attach v"]);
    const elsewhere = observed(node([], []), [volume("v"), volume("w")], [], {
      nodesOf: (name) => (name === "v" ? ["one", "two"] : []),
    });
    expect(stepsOf(elsewhere)).toEqual(["attach w"]);
  });

  test("is no matter of a volume that is not known any more, or that no driver attaches", () => {
    const more = { volumeOf: () => undefined };
    expect(stepsOf(observed(node([], []), [], [attachment("v", true)], more))).toEqual([]);
  });

  test("is listed with what others listed, in order, and with the pods that waited for it", () => {
    const others = { volumesAttached: [{ name: "kubernetes.io/nfs/x" }, { name: unique("gone") }], volumesInUse: [] };
    const found = { ...node([], []), status: others } as unknown as Node;
    const attached = [attachment("w", true), attachment("v", true), attachment("u", false)];
    const [step] = plan(observed(found, [volume("w")], attached, {}), now).steps;
    expect(step).toMatchObject({ type: "list-attached", names: [unique("w"), "kubernetes.io/nfs/x"] });
    expect(step?.type === "list-attached" && step.begun.map((each) => [each.volume, each.pods.length])).toEqual([
      ["w", 1],
    ]);
    const kept = plan(observed(found, [volume("w"), volume("v")], attached), now).steps[0];
    expect(kept).toMatchObject({ names: [unique("v"), unique("w"), "kubernetes.io/nfs/x"] });
  });

  test("is not listed again where the list has it", () => {
    const some = [attachment("v", true), attachment("w", true)];
    expect(stepsOf(observed(node([], ["w", "v"]), [volume("v"), volume("w")], some))).toEqual([]);
    expect(stepsOf(observed(node([], ["w", "x"]), [volume("v"), volume("w")], some))).toEqual(["list v,w"]);
  });

  test("waits by name for the first volume that a silent node has not unmounted", () => {
    const idle: Record<string, number> = { [attachment("v", true).metadata.name]: now - 1_000 };
    const two = [attachment("v", true), attachment("w", true)];
    const silent = observed(node(["v", "w"], ["v", "w"], { ready: "Unknown" }), [], two, {
      idleSince: (name) => idle[name] ?? now,
    });
    expect(plan(silent, now).wait).toEqual({
      for: "a node to unmount its volumes",
      until: now - 1_000 + unmountTimeout,
    });
    expect(plan(observed(node(["v"], ["v"]), [], [attachment("v", true)]), now).wait).toBeUndefined();
    const unready = { ...node(["v"], ["v"]), status: { ...node(["v"], ["v"]).status, conditions: undefined } };
    expect(plan(observed(unready as unknown as Node, [], [attachment("v", true)]), now).wait?.until).toBe(
      now + unmountTimeout,
    );
  });

  test("that fails is a warning on each pod that needs the volume, and on no other", () => {
    const failing = { ...attachment("v", false), status: { attached: false, attachError: { message: "no room" } } };
    const seen = observed(node([], []), [volume("v"), volume("w")], [failing, attachment("w", false)]);
    const event = {
      type: "Warning",
      reason: "FailedAttachVolume",
      message: 'AttachVolume.Attach failed for volume "v" : no room',
    };
    expect(plan(seen, now).status).toEqual([{ pod: pod("p"), event }]);
    const blocked = plan(observed(node([], []), [volume("v")], [], { nodesOf: () => ["two"] }), now).status;
    expect(blocked).toMatchObject([{ pod: pod("p"), event: { type: "Warning", reason: "FailedAttachVolume" } }]);
  });
});
