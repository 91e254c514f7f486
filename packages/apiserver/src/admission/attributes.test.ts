import { describe, expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import type { Resource } from "../contract/resource.ts";
import type { Json } from "../json/json.ts";
import {
  admissionCluster,
  attemptOn,
  inVersions,
  MAPS,
  NAMESPACES,
  NODES,
  type AttemptFields,
} from "../testing/attempts.ts";
import {
  between,
  inForm,
  inSelectedNamespace,
  isSelectedObject,
  kindIn,
  namespaceObject,
  namespaceOf,
  nameOf,
  userInfoOf,
} from "./attributes.ts";

const labelled = (team: string, kind = "ConfigMap"): Json => ({
  apiVersion: "v1",
  kind,
  metadata: { name: "o", labels: { team } },
});
const cluster = await admissionCluster({ "/namespaces": [{ metadata: { name: "ns", labels: { team: "a" } } }] });
const on = (resource: Resource, given?: AttemptFields) => attemptOn(cluster, resource, given).attempt;

describe("the name and the namespace of an attempt", () => {
  const object = labelled("a");
  test.each<[string, AttemptFields, string]>([
    ["is that of the request", { name: "r", object }, "r"],
    ["is that of the object that is created", { object }, "o"],
    ["is not that of the object on other operations", { operation: "UPDATE", object }, ""],
    ["is empty without an object", {}, ""],
    ["is empty where the server makes it", { object: { metadata: { generateName: "o-" } } }, ""],
  ])("the name %s", (_what, given, expected) => {
    expect(nameOf(on(MAPS, given))).toBe(expected);
  });

  test("the namespace is that of the request, and a namespace's own name", () => {
    expect(namespaceOf(on(MAPS, { name: "r" }))).toBe("ns");
    expect(namespaceOf(on(NAMESPACES, { name: "r" }))).toBe("r");
  });

  test("the namespace's object must exist for objects in one", () => {
    expect(namespaceObject(on(NODES))).toBeUndefined();
    expect(namespaceObject(on(MAPS))?.metadata.labels).toEqual({ team: "a" });
    expect(() => namespaceObject(on(MAPS, { namespace: "x" }))).toThrow('namespaces "x" not found');
  });
});

describe("a namespaceSelector", () => {
  const b = { matchLabels: { team: "b" } };
  const a = { matchLabels: { team: "a" } };
  const gone: AttemptFields = { namespace: "gone" };
  const space = (team: string): Json => labelled(team, "Namespace");
  test.each<[string, unknown, Resource, AttemptFields, boolean]>([
    ["that is absent selects all", undefined, MAPS, gone, true],
    ["that is empty selects all", {}, MAPS, gone, true],
    ["with empty parts selects all", { matchLabels: {}, matchExpressions: [] }, MAPS, gone, true],
    ["reads the labels of the namespace", a, MAPS, {}, true],
    ["does not read those of the object", b, MAPS, { object: labelled("b") }, false],
    ["has expressions", { matchExpressions: [{ key: "team", operator: "DoesNotExist" }] }, MAPS, {}, false],
    ["selects every object that is in no namespace", b, NODES, { object: labelled("a") }, true],
    ["reads a namespace's own labels", b, NAMESPACES, { object: space("b") }, true],
    ["does not select a namespace with others", b, NAMESPACES, { object: space("a") }, false],
    ["reads the new labels", b, NAMESPACES, { operation: "UPDATE", object: space("b"), old: space("a") }, true],
    [
      "reads the old labels where a subresource is written",
      a,
      NAMESPACES,
      { operation: "UPDATE", subresource: "finalize", object: space("b"), old: space("a") },
      true,
    ],
    [
      "reads the new ones where there are no others",
      b,
      NAMESPACES,
      { subresource: "finalize", object: space("b") },
      true,
    ],
    ["reads the labels of what is deleted", a, NAMESPACES, { operation: "DELETE", old: space("a") }, true],
    ["takes a namespace without labels for one with none", a, NAMESPACES, { operation: "DELETE" }, false],
  ])("%s", (_what, selector, resource, given, expected) => {
    expect(inSelectedNamespace(selector, on(resource, given))).toBe(expected);
  });

  test("needs the namespace", () => {
    expect(() => inSelectedNamespace(a, on(MAPS, gone))).toThrow('namespaces "gone" not found');
  });
});

describe("an objectSelector", () => {
  const b = { matchLabels: { team: "b" } };
  test.each<[string, unknown, AttemptFields, boolean]>([
    ["that is empty selects all", { matchLabels: {} }, {}, true],
    ["selects by the new labels", b, { object: labelled("b"), old: labelled("a") }, true],
    ["selects by the old labels", b, { object: labelled("a"), old: labelled("b") }, true],
    ["does not select what has neither", b, { object: labelled("a"), old: labelled("a") }, false],
    ["does not select what has no metadata", b, { object: { kind: "PodExecOptions" } }, false],
    [
      "does not select options by the absence of a label",
      { matchExpressions: [{ key: "team", operator: "DoesNotExist" }] },
      { object: { kind: "PodExecOptions" } },
      false,
    ],
  ])("%s", (_what, selector, given, expected) => {
    expect(isSelectedObject(selector, on(MAPS, given))).toBe(expected);
  });
});

describe("another form of an attempt", () => {
  const v1 = { name: "v1" };
  const v2 = {
    name: "v2",
    fromStored: (o: KubeObject) => ({ ...o, apiVersion: "x.io/v2", as: "v2" }) as KubeObject,
    toStored: (o: KubeObject) => ({ ...o, as: "stored" }) as unknown as KubeObject & Json,
  };
  const things = inVersions({ kind: "Thing", plural: "things", group: "x.io" }, v1, v2);
  const renamed = { ...things, group: "y.io", kind: "Renamed" };
  const thing = (version: string): KubeObject =>
    ({ apiVersion: `x.io/${version}`, kind: "Thing", metadata: { name: "t" } }) as KubeObject;
  const SCALE = { group: "autoscaling", version: "v1", kind: "Scale" };
  const form = { resource: things, version: v2 };

  test("names the kind of that form", () => {
    const other = { resource: renamed, version: v2 };
    expect(kindIn(on(things), other)).toEqual({ group: "y.io", version: "v2", kind: "Renamed" });
    expect(kindIn(on(things, { kind: SCALE }), other)).toBe(SCALE);
    const sameGroup = { ...SCALE, group: "x.io" };
    expect(kindIn(on(things, { kind: sameGroup }), other)).toBe(sameGroup);
    const sameKind = { ...SCALE, kind: "Thing" };
    expect(kindIn(on(things, { kind: sameKind }), other)).toBe(sameKind);
  });

  test("has both objects converted", async () => {
    const attempt = on(things, { operation: "UPDATE", object: thing("v1"), old: thing("v1") });
    const seen = { ...thing("v2"), as: "v2" };
    expect(await inForm(attempt, form)).toEqual({ ...attempt, object: seen, old: seen });
  });

  test("has no object where there was none", async () => {
    expect(await inForm(on(things, { object: thing("v1") }), form)).toMatchObject({ object: { as: "v2" } });
    const removal = await inForm(on(things, { operation: "DELETE", old: thing("v1") }), form);
    expect(removal).toMatchObject({ object: undefined, old: { as: "v2" } });
  });

  test("is the same attempt in its own version, and with a body of another kind", () => {
    const own = on(things, { object: thing("v1") });
    expect(inForm(own, { resource: things, version: v1 })).toBe(own);
    for (const kind of [SCALE, { ...SCALE, group: "x.io" }, { ...SCALE, kind: "Thing" }]) {
      const scaled = on(things, { kind, object: thing("v1") });
      expect(inForm(scaled, form)).toBe(scaled);
    }
  });

  test("goes through the stored form", () => {
    const given = thing("v2");
    const back = between(given, form, { resource: things, version: v1 });
    expect(back).toEqual({ ...thing("v1"), as: "stored" });
    expect(given).toEqual(thing("v2"));
    expect(between(given, { resource: things, version: v1 }, { resource: things, version: v1 })).toBe(given);
    const options = { ...given, kind: "Other" };
    expect(between(options, form, { resource: things, version: v1 })).toBe(options);
  });

  test("of a custom kind is made by its forms", () => {
    const converted = (o: KubeObject, apiVersion: string): KubeObject => ({ ...o, apiVersion });
    const custom = { ...things, forms: { converted } } as unknown as Resource;
    const made = between(thing("v1"), { resource: custom, version: v1 }, { resource: custom, version: v2 });
    expect(made).toEqual(thing("v2"));
  });
});

test("a review names the user as far as is known", () => {
  const known = { name: "jane", groups: ["g"] };
  expect(userInfoOf(on(MAPS, { user: known }))).toEqual({ username: "jane", groups: ["g"] });
  expect(userInfoOf(on(MAPS, { user: { ...known, uid: "", extra: {} } }))).toEqual({ username: "jane", groups: ["g"] });
  const whole = { ...known, uid: "u", extra: { a: ["b"] } };
  expect(userInfoOf(on(MAPS, { user: whole }))).toEqual({
    username: "jane",
    uid: "u",
    groups: ["g"],
    extra: whole.extra,
  });
});
