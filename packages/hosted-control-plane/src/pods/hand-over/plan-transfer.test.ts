import type { Namespace } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import {
  awaitedAnnotation,
  datastoreAnnotation,
  handedOverAnnotation,
  handOverAnnotation,
  idAnnotation,
  initializedAnnotation,
  ownerAnnotation,
  poolAnnotation,
  poolNamespaceOf,
  releasedAnnotation,
} from "../tenant.ts";
import { plan } from "./plan.ts";
import { planTransfer } from "./plan-transfer.ts";
import { acknowledgement } from "./request.ts";

const base = { [idAnnotation]: "team.web", [ownerAnnotation]: "one", [initializedAnnotation]: "true" };
const request = { [handOverAnnotation]: JSON.stringify({ id: "1", to: "two" }) };
const management = { from: "uid-1", to: "uid-2" };
const said = (id: string, uid: string, settings: object = {}): string =>
  JSON.stringify({ id, management: uid, settings });
const both = { ...request, [releasedAnnotation]: said("1", "uid-1"), [awaitedAnnotation]: said("1", "uid-2") };
const handedOver = { [ownerAnnotation]: "two", [handedOverAnnotation]: JSON.stringify(management) };

function namespace(annotations: Record<string, string>, more: object = {}): Namespace {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: "hcp-web", annotations, ...more } };
}
const given = { id: "team.web", from: "one", to: "two", management };
const planOf = (...namespaces: Namespace[]) => planTransfer({ ...given, namespaces });

describe("the hand-over of a control plane to another management cluster", () => {
  test.for<[string, Namespace[], object]>([
    ["is requested first", [namespace(base)], { type: "request" }],
    [
      "waits for both managers",
      [namespace({ ...base, ...request })],
      { type: "wait", released: false, awaited: false },
    ],
    [
      "waits for the source, although the target sees it",
      [namespace({ ...base, ...request, [awaitedAnnotation]: said("1", "uid-2") })],
      { type: "wait", released: false, awaited: true },
    ],
    [
      "does not take the word of an earlier hand-over",
      [namespace({ ...base, ...both, [releasedAnnotation]: said("0", "uid-1") })],
      { type: "wait", released: false, awaited: true },
    ],
    [
      "does not take a word that cannot be read",
      [namespace({ ...base, ...both, [releasedAnnotation]: "yes" })],
      { type: "wait", released: false, awaited: true },
    ],
    [
      "changes the owner in one write once both have seen it",
      [namespace({ ...base, ...both })],
      {
        type: "switch",
        annotations: {
          ...handedOver,
          [handOverAnnotation]: null,
          [releasedAnnotation]: null,
          [awaitedAnnotation]: null,
        },
      },
    ],
    [
      "notes which shared etcd keeps the data",
      [namespace({ ...base, ...both, [datastoreAnnotation]: "Pooled" })],
      { type: "switch", annotations: { [poolAnnotation]: poolNamespaceOf("one") } },
    ],
    [
      "is done where the source handed it over to the target",
      [namespace({ ...base, ...handedOver })],
      { type: "done" },
    ],
  ])("%s", ([, namespaces, step]) => {
    expect(planOf(...namespaces)).toMatchObject(step);
  });

  test("leaves the note of the shared etcd as the first management cluster made it", () => {
    const step = planOf(namespace({ ...base, ...both, [datastoreAnnotation]: "Pooled", [poolAnnotation]: "first" }));
    expect(step).toMatchObject({ type: "switch" });
    expect("annotations" in step && poolAnnotation in step.annotations).toBe(false);
  });

  test("writes nothing but the owner and the end of the request where it has an etcd of its own", () => {
    for (const datastore of [{}, { [datastoreAnnotation]: "Own" }]) {
      const from = namespace({ ...base, ...both, ...datastore });
      const ended = { [handOverAnnotation]: null, [releasedAnnotation]: null, [awaitedAnnotation]: null };
      expect(planOf(from)).toEqual({ type: "switch", namespace: from, annotations: { ...handedOver, ...ended } });
    }
  });

  const theirs = { ...base, [ownerAnnotation]: "two" };
  const elsewhere = { ...base, [handOverAnnotation]: JSON.stringify({ id: "1", to: "three" }) };
  const otherSettings = {
    ...both,
    [releasedAnnotation]: said("1", "uid-1", { versions: "1", only: "1", same: "1" }),
    [awaitedAnnotation]: said("1", "uid-2", { versions: "2", same: "1" }),
  };
  test.for<[code: string, title: string, Namespace[], message: string, hint: string]>([
    [
      "MOVE_CONTROL_PLANE_MISSING",
      "where the service cluster has none",
      [],
      "no control plane team.web of management cluster one or two",
      "with --service-kubeconfig",
    ],
    [
      "MOVE_CONTROL_PLANE_MISSING",
      "of a third one",
      [namespace({ ...base, [ownerAnnotation]: "three" })],
      "no control plane team.web",
      "with --from-owner and --to-owner",
    ],
    [
      "MOVE_CONTROL_PLANE_MISSING",
      "where it is not known which of two the target has",
      [namespace({ ...theirs, ...handedOver }), namespace({ ...theirs, ...handedOver })],
      "no control plane team.web",
      "--to-owner",
    ],
    [
      "MOVE_CONTROL_PLANE_STARTING",
      "while its keys are created",
      [namespace({ [idAnnotation]: "team.web", [ownerAnnotation]: "one" })],
      "team.web is still being created",
      "Wait until it is available",
    ],
    [
      "MOVE_OBJECT_DELETED",
      "while it is deleted",
      [namespace(base, { deletionTimestamp: "2026-01-01T00:00:00Z" })],
      "Namespace hcp-web of the service cluster, with the pods of team.web, is being deleted",
      "Wait until it is gone",
    ],
    [
      "MOVE_TARGET_OCCUPIED",
      "where the target has one of that name",
      [namespace(base), namespace(theirs, { name: "hcp-web-2" })],
      "Namespaces hcp-web, hcp-web-2",
      "Delete the one that is not to be moved",
    ],
    [
      "MOVE_TARGET_OCCUPIED",
      "where the source has two of that name",
      [namespace(base), namespace(base, { name: "hcp-web-2" })],
      "Namespaces hcp-web, hcp-web-2",
      "Delete the one that is not to be moved",
    ],
    [
      "MOVE_UNDER_WAY",
      "while it goes elsewhere",
      [namespace(elsewhere)],
      "is being handed over to management cluster three",
      `remove the annotation ${handOverAnnotation} from Namespace hcp-web`,
    ],
    [
      "MOVE_OWNER_FOREIGN",
      "where owners are swapped",
      [namespace(theirs)],
      "that of --owner two in the service cluster, and the source (--owner one) did not hand it over",
      "that of the source with --from-owner",
    ],
    [
      "MOVE_OWNER_FOREIGN",
      "where another one handed it over",
      [namespace({ ...base, ...handedOver, [handedOverAnnotation]: JSON.stringify({ from: "uid-3", to: "uid-2" }) })],
      "did not hand it over",
      "that of the target with --to-owner",
    ],
  ])("is refused with %s %s, and says what to do", ([code, , namespaces, message, hint]) => {
    const step = planOf(...namespaces);
    expect(step).toEqual({
      type: "refuse",
      code,
      message: expect.anything() as string,
      hint: expect.anything() as string,
    });
    expect("message" in step && step.message).toContain(message);
    expect("hint" in step && step.hint).toContain(hint);
  });

  test.for<[code: string, title: string, Record<string, string>, message: string, hint: string]>([
    [
      "MOVE_OWNER_FOREIGN",
      "the target's owner is the name of a third one",
      { ...both, [awaitedAnnotation]: said("1", "uid-3") },
      "team.web is not handed over: --owner two is not that of the target",
      "with --from-owner and --to-owner",
    ],
    [
      "MOVE_OWNER_FOREIGN",
      "the source's owner is the name of a third one",
      { ...both, [releasedAnnotation]: said("1", "uid-3") },
      "team.web is not handed over: --owner one is not that of the source",
      "run the same version of both",
    ],
    [
      "MOVE_OWNER_FOREIGN",
      "both owners are names of others",
      { ...both, [releasedAnnotation]: said("1", "uid-2"), [awaitedAnnotation]: said("1", "uid-1") },
      "--owner one is not that of the source, and --owner two is not that of the target",
      "--to-owner",
    ],
    [
      "MOVE_SETTINGS_DIFFER",
      "pods would be replaced",
      { ...both, [awaitedAnnotation]: said("1", "uid-2", { registry: "other" }) },
      "pods of team.web would be replaced: registry",
      "the same options for these settings",
    ],
    [
      "MOVE_SETTINGS_DIFFER",
      "several settings differ, of which one manager does not know all",
      otherSettings,
      "would be replaced: only, versions",
      "repeat the command",
    ],
  ])("is refused with %s where %s, and its manager continues", ([code, , annotations, message, hint]) => {
    const asked = namespace({ ...base, ...annotations });
    const step = planOf(asked);
    expect(step).toMatchObject({ type: "refuse", code, withdraw: asked });
    expect("message" in step && step.message).toContain(message);
    expect("hint" in step && step.hint).toContain(hint);
  });

  test.for(["Starting", "Copying", "Freezing", "Switching", "Returning", "Retained"] as const)(
    "is refused while its data moves to an etcd of its own, and the request is withdrawn: %s",
    (migration) => {
      const moving = { ...given, migration };
      const after = namespace({ ...base, ...both });
      for (const other of [namespace(base), namespace(elsewhere)])
        expect(planTransfer({ ...moving, namespaces: [other] })).toEqual({
          type: "refuse",
          code: "MOVE_DATA_MIGRATING",
          message: `the data of control plane team.web is moving to an etcd of its own (stage ${migration})`,
          hint: expect.stringContaining("Done or Withdrawn") as string,
        });
      expect(planTransfer({ ...moving, namespaces: [after] })).toMatchObject({ withdraw: after });
      for (const ended of ["Done", "Withdrawn"] as const)
        expect(planTransfer({ ...moving, migration: ended, namespaces: [after] })).toMatchObject({ type: "switch" });
    },
  );

  test("is refused between managers with one owner", () => {
    const step = planTransfer({ ...given, to: "one", namespaces: [namespace(base)] });
    expect(step).toMatchObject({
      type: "refuse",
      code: "MOVE_OWNER_SAME",
      hint: expect.stringContaining("--to-owner") as string,
    });
  });
});

describe("the manager that sees a hand-over", () => {
  const of = (owner: string, annotations: Record<string, string>) =>
    acknowledgement(namespace({ ...base, ...annotations }), { owner });
  test.for<[string, string, Record<string, string>, unknown]>([
    ["has nothing to say without a request", "one", {}, "none"],
    ["releases what it has", "one", request, { type: "acknowledge", annotation: releasedAnnotation }],
    ["awaits what it is to have", "two", request, { type: "acknowledge", annotation: awaitedAnnotation }],
    ["has nothing to say about that of others", "three", request, "none"],
    ["says it once", "one", both, "given"],
    [
      "says it again for another request",
      "one",
      { ...both, [releasedAnnotation]: said("0", "uid-1") },
      { type: "acknowledge" },
    ],
    [
      "holds still also where it cannot read the request",
      "one",
      { [handOverAnnotation]: "{" },
      { type: "acknowledge" },
    ],
  ])("%s", ([, owner, annotations, expected]) => {
    const step = of(owner, annotations);
    if (typeof expected === "string") expect(step).toBe(expected);
    else expect(step).toMatchObject(expected as object);
  });

  test("says it of each namespace that is there, and of no other", () => {
    const [asked, deleted, given, other] = [
      namespace({ ...base, ...request }),
      namespace({ ...base, ...request }, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
      namespace({ ...base, ...both }),
      namespace(base),
    ] as [Namespace, Namespace, Namespace, Namespace];
    const { steps, status } = plan({ namespaces: [deleted, given, other, asked], settings: { owner: "one" } });
    expect([steps, status]).toEqual([[acknowledgement(asked, { owner: "one" })], undefined]);
  });

  test("states which management cluster it works for", () => {
    const step = acknowledgement(namespace({ ...base, ...request }), { owner: "one", management: "uid-1" });
    expect(step).toMatchObject({ content: { management: "uid-1", settings: {} } });
  });

  test("states the settings that pods are made from, and no others", () => {
    const settings = { owner: "one", registry: "r", ceilings: { replicas: 3 }, pool: { members: 1 as const } };
    const step = acknowledgement(namespace({ ...base, ...request }), settings);
    expect(typeof step === "object" && Object.keys(step.content.settings)).toEqual(["registry"]);
  });
});
