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

  test.for<[string, string, Namespace[], string?]>([
    ["MOVE_CONTROL_PLANE_MISSING", "where the service cluster has none", []],
    ["MOVE_CONTROL_PLANE_MISSING", "of a third one", [namespace({ ...base, [ownerAnnotation]: "three" })]],
    [
      "MOVE_CONTROL_PLANE_STARTING",
      "while its keys are created",
      [namespace({ [idAnnotation]: "team.web", [ownerAnnotation]: "one" })],
    ],
    ["MOVE_OBJECT_DELETED", "while it is deleted", [namespace(base, { deletionTimestamp: "2026-01-01T00:00:00Z" })]],
    [
      "MOVE_TARGET_OCCUPIED",
      "where the target has one of that name",
      [namespace(base), namespace({ ...base, [ownerAnnotation]: "two" })],
    ],
    [
      "MOVE_UNDER_WAY",
      "while it goes elsewhere",
      [namespace({ ...base, [handOverAnnotation]: JSON.stringify({ id: "1", to: "three" }) })],
    ],
    ["MOVE_OWNER_FOREIGN", "where owners are swapped", [namespace({ ...base, [ownerAnnotation]: "two" })]],
    [
      "MOVE_OWNER_FOREIGN",
      "where another one handed it over",
      [namespace({ ...base, ...handedOver, [handedOverAnnotation]: JSON.stringify({ from: "uid-3", to: "uid-2" }) })],
    ],
    [
      "MOVE_OWNER_FOREIGN",
      "where the owner's name is that of a third one",
      [namespace({ ...base, ...both, [awaitedAnnotation]: said("1", "uid-3") })],
      "--owner two is not that of the target",
    ],
    [
      "MOVE_OWNER_FOREIGN",
      "where the source's owner is that of a third one",
      [namespace({ ...base, ...both, [releasedAnnotation]: said("1", "uid-3") })],
      "--owner one is not that of the source",
    ],
    [
      "MOVE_SETTINGS_DIFFER",
      "where pods would be replaced",
      [namespace({ ...base, ...both, [awaitedAnnotation]: said("1", "uid-2", { registry: "other" }) })],
      "registry",
    ],
  ])("is refused with %s %s", ([code, , namespaces, text = ""]) => {
    const step = planOf(...namespaces);
    expect(step).toMatchObject({ type: "refuse", code });
    expect("message" in step && step.message).toContain(text);
  });

  test.for(["Copying", "Switching", "Retained"] as const)(
    "is refused while its data moves to an etcd of its own, and the request is withdrawn: %s",
    (migration) => {
      const moving = { ...given, migration };
      const [before, after] = [namespace(base), namespace({ ...base, ...both })];
      expect(planTransfer({ ...moving, namespaces: [before] })).toMatchObject({ code: "MOVE_DATA_MIGRATING" });
      expect(planTransfer({ ...moving, namespaces: [after] })).toMatchObject({ withdraw: after });
      expect(planTransfer({ ...moving, migration: "Done", namespaces: [after] })).toMatchObject({ type: "switch" });
    },
  );

  test("is refused between managers with one owner", () => {
    const step = planTransfer({ ...given, to: "one", namespaces: [namespace(base)] });
    expect(step).toMatchObject({ code: "MOVE_OWNER_SAME" });
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
