import type { KubeObject } from "@causeway/kubernetes";
import { describe, expect, it, test } from "vitest";
import type { Json, JsonObject } from "../../json/values.ts";
import { Tables } from "../../wire/tables.ts";
import { BOOLEAN, DEDUCED, mapOf, METADATA, NUMERIC, STRING, type MergeType } from "../../schema/merge-type.ts";
import { applyServerSide, BuiltInTypes, NO_FIELDS, pathsSet, trackUpdate, type Typed } from "../index.ts";
import type { UpdateToTrack } from "./track-update.ts";
import { type FieldSet, printedPaths } from "./field-set.ts";
import { readManagers } from "./managers.ts";

const T0 = "2026-01-01T00:00:00Z";
const TYPE = { apiVersion: "v1", kind: "ConfigMap" };
const TYPED: Typed = {
  apiVersion: "v1",
  type: new BuiltInTypes(new Tables()).ofKind("v1", "ConfigMap"),
  reset: NO_FIELDS,
  form: () => undefined,
};
const map = (data: Record<string, string>, metadata: object = {}): KubeObject & { data: Record<string, string> } => ({
  ...TYPE,
  metadata: { name: "m", ...metadata },
  data,
});
const track = (before: KubeObject | undefined, after: KubeObject, manager: string, now = T0): KubeObject =>
  trackUpdate({ ...(before === undefined ? {} : { before }), after, manager, typed: TYPED, time: now });
/** A value of a set that is none. */
const withoutKey = (): KubeObject => map({}, { finalizers: [{ no: "text" }] });
const owners = (object: KubeObject) => (object.metadata.managedFields ?? []).map((e) => [e.manager, e.fieldsV1]);

describe("tracking an update", () => {
  it("gives the maker all fields, and containers with a dot", () => {
    const made = track(undefined, map({ a: "1" }, { labels: { x: "y" } }), "maker");
    expect(owners(made)).toEqual([
      ["maker", { "f:data": { ".": {}, "f:a": {} }, "f:metadata": { "f:labels": { ".": {}, "f:x": {} } } }],
    ]);
    expect(made.metadata.managedFields?.[0]).toMatchObject({ operation: "Update", apiVersion: "v1", time: T0 });
  });

  it("moves what changed to the one who changed it, and forgets what is gone", () => {
    const made = track(undefined, map({ a: "1", b: "1", c: "1" }), "maker");
    const changed = track(made, { ...made, data: { a: "2", b: "1" } } as KubeObject, "editor");
    expect(owners(changed)).toEqual([
      ["editor", { "f:data": { "f:a": {} } }],
      ["maker", { "f:data": { ".": {}, "f:b": {} } }],
    ]);
  });

  it("keeps an entry as it is when its manager changes nothing", () => {
    const made = track(undefined, map({ a: "1" }), "maker");
    expect(track(made, made, "maker", "2026-02-02T00:00:00Z")).toEqual(made);
    expect(track(made, made, "other")).toEqual(made);
  });

  it("does not lose the owners when a client sends no managedFields, and forgets them when it empties them", () => {
    const made = track(undefined, map({ a: "1" }), "maker");
    expect(owners(track(made, map({ a: "1" }), "other"))).toEqual(owners(made));
    expect(track(made, map({ a: "1" }, { managedFields: [] }), "other").metadata.managedFields).toBeUndefined();
    expect(track(made, map({ a: "1" }, { managedFields: [{}] }), "other").metadata.managedFields).toBeUndefined();
  });

  const made = track(undefined, map({ a: "1" }), "maker");
  const entry = {
    manager: "x",
    operation: "Update",
    apiVersion: "v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": {} },
  };
  test.each<[string, readonly object[] | undefined, Partial<UpdateToTrack>, readonly string[]]>([
    ["none", undefined, {}, ["maker"]],
    ["an empty list", [], {}, []],
    ["an empty list where that is no reset", [], { resetByNone: false }, ["maker"]],
    ["an empty entry", [{}], { resetByNone: false }, []],
    ["two empty entries, which cannot be read", [{}, {}], {}, ["maker"]],
    ["entries of its own", [entry], {}, ["x"]],
    ["entries that cannot be read", [{ ...entry, fieldsType: "x" }], {}, ["maker"]],
    ["an empty entry at a subresource", [{}], { subresource: "status" }, ["maker"]],
    ["entries of its own at a subresource", [entry], { subresource: "status" }, ["maker"]],
  ])("has the managers that are left by a request with %s", (_what, managedFields, more, expected) => {
    const after = map({ a: "1" }, managedFields && { managedFields });
    const tracked = trackUpdate({ before: made, after, manager: "other", typed: TYPED, time: T0, ...more });
    expect(owners(tracked).map(([manager]) => manager)).toEqual(expected);
    expect(tracked).toMatchObject({ data: { a: "1" } });
  });

  it("does not begin with an object that has no owners, and names the subresource and the time that are given", () => {
    expect(track(map({ a: "1" }), map({ a: "2" }), "other").metadata).not.toHaveProperty("managedFields");
    const given = { before: made, after: map({ a: "2" }), manager: "other", typed: TYPED };
    const entries = trackUpdate({ ...given, subresource: "status" }).metadata.managedFields;
    expect(entries).toContainEqual({
      manager: "other",
      operation: "Update",
      apiVersion: "v1",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": { "f:a": {} } },
      subresource: "status",
    });
    expect(trackUpdate(given).metadata.managedFields?.[0]).not.toHaveProperty("subresource");
  });

  it("gives the maker nothing that an object has before", () => {
    const initial = map({ a: "1" });
    const tracked = trackUpdate({ initial, after: map({ a: "1", b: "1" }), manager: "maker", typed: TYPED });
    expect(owners(tracked)).toEqual([["maker", { "f:data": { "f:b": {} } }]]);
  });

  test.each<[string, KubeObject, KubeObject, boolean, number]>([
    ["continues where both are of their type", made, map({ a: "2" }), true, 2],
    ["ends where the object is not of its type", made, map({ a: 1 as never }), true, 0],
    ["ends where the object was not of its type", { ...made, data: { b: 1 } } as KubeObject, map({}), true, 0],
    ["continues without a check where all objects are of their type", made, map({ a: 1 as never }), false, 2],
    ["ends where an item has no key", made, withoutKey(), false, 0],
  ])("%s", (_what, before, after, mayStray, count) => {
    const tracked = trackUpdate({ before, after, manager: "other", typed: TYPED, time: T0, mayStray });
    expect(tracked.metadata.managedFields ?? []).toHaveLength(count);
  });

  it("fails as the conversion of the object does", () => {
    const other = map({ a: "1" }, { managedFields: [{ ...entry, apiVersion: "v2" }] });
    const form = (): never => {
      throw new Error("there is no converter");
    };
    expect(() => trackUpdate({ before: other, after: other, manager: "m", typed: { ...TYPED, form } })).toThrow(
      "there is no converter",
    );
  });

  it("names ten updaters at most; the oldest share one entry and lose nothing", () => {
    let live: KubeObject | undefined;
    const data: Record<string, string> = {};
    for (let i = 0; i < 15; i += 1) {
      data[`k${i}`] = "1";
      live = track(
        live,
        { ...map({ ...data }), ...(live === undefined ? {} : { metadata: live.metadata }) },
        `m${i}`,
        `2026-01-01T00:00:${String(i).padStart(2, "0")}Z`,
      );
    }
    const entries = live?.metadata.managedFields ?? [];
    expect(entries.map((e) => e.manager)).toContain("ancient-changes");
    expect(entries).toHaveLength(10);
    const fields = entries
      .flatMap((e) => Object.keys((e.fieldsV1 as { "f:data": object })["f:data"]))
      .filter((k) => k !== ".");
    expect(fields.toSorted()).toEqual(
      Object.keys(data)
        .map((k) => `f:${k}`)
        .toSorted(),
    );
  });
});

describe("a kind of several versions", () => {
  const kindOf = (fields: Readonly<Record<string, () => MergeType>>): MergeType => {
    const common = { apiVersion: () => STRING, kind: () => STRING, metadata: () => METADATA, status: () => DEDUCED };
    return { map: mapOf({ ...common, size: () => NUMERIC, flag: () => BOOLEAN, ...fields }) };
  };
  const paint: MergeType = { map: mapOf({ colour: () => STRING }) };
  const types: Readonly<Record<string, MergeType>> = {
    v1: kindOf({ colour: () => STRING }),
    v2: kindOf({ paint: () => paint }),
  };

  /** The colour is elsewhere in v2. A webhook finds it by the version, and returns what it is about with its name. */
  function convert(object: Json, version: string): Json {
    expect(object).toMatchObject({ apiVersion: expect.stringMatching(/^v[12]$/) as unknown, metadata: { name: "a" } });
    const { apiVersion, colour, paint: painted, ...rest } = object as Record<string, Json>;
    const known = apiVersion === "v1" ? colour : (painted as { readonly colour?: Json } | undefined)?.colour;
    const own = known === undefined ? {} : version === "v1" ? { colour: known } : { paint: { colour: known } };
    return { apiVersion: version, ...rest, ...own } as Json;
  }

  /** What this endpoint cannot set, in its own version and in others. */
  interface Resets {
    readonly own?: FieldSet;
    readonly others?: FieldSet;
  }
  const typedOf = (apiVersion: string, { own = NO_FIELDS, others = NO_FIELDS }: Resets): Typed => ({
    apiVersion,
    type: types[apiVersion] ?? DEDUCED,
    reset: own,
    form(other) {
      const type = types[other];
      return type && { type, reset: others, of: (object) => convert(object, other) };
    },
  });

  type Step = readonly [verb: "applies" | "sets" | "forces", who: string, version: string, fields: object];

  /** What comes of the steps, as v1 has it, and who owns what. */
  function after(steps: readonly Step[], resets: Resets = {}): readonly [object, ...string[]] {
    let live: KubeObject | undefined;
    for (const [verb, manager, apiVersion, fields] of steps) {
      const typed = typedOf(apiVersion, verb === "sets" ? resets : {});
      const before = live && (convert(live as unknown as Json, apiVersion) as unknown as KubeObject);
      const given = { apiVersion, kind: "Thing", metadata: { name: "a" }, ...fields } as unknown as KubeObject;
      if (verb === "sets") {
        live = trackUpdate({ ...(before && { before }), after: given, manager, typed });
      } else {
        const force = verb === "forces";
        const result = applyServerSide({
          ...(before && { live: before }),
          applied: given,
          manager,
          typed,
          force,
          now: T0,
        });
        if (result.conflicts.length > 0) return [{}, ...result.conflicts.map((c) => `${c.manager}: ${c.field}`)];
        live = result.object;
      }
    }
    const { apiVersion: _v, kind: _k, metadata: _m, ...fields } = convert(live as unknown as Json, "v1") as JsonObject;
    const managers = [...(readManagers(live?.metadata.managedFields)?.values() ?? [])];
    const owned = managers.map((m) => `${m.name} ${m.apiVersion} ${printedPaths(m.fields).join(" ")}`);
    return [fields, ...owned.toSorted()];
  }

  test.each<[string, readonly Step[], object, ...string[]]>([
    [
      "an update takes what it changes from managers of other versions",
      [
        ["applies", "a", "v2", { paint: { colour: "red" }, size: 1 }],
        ["sets", "b", "v1", { colour: "blue", size: 1 }],
      ],
      { colour: "blue", size: 1 },
      "a v2 .size",
      "b v1 .colour",
    ],
    [
      "an update leaves what it does not change to managers of other versions",
      [
        ["applies", "a", "v2", { paint: { colour: "red" } }],
        ["sets", "b", "v1", { colour: "red", size: 2 }],
      ],
      { colour: "red", size: 2 },
      "a v2 .paint.colour",
      "b v1 .size",
    ],
    [
      "an update that removes a field ends all that was owned of it",
      [
        ["applies", "a", "v2", { paint: { colour: "red" } }],
        ["sets", "b", "v1", { size: 2 }],
      ],
      { size: 2 },
      "b v1 .size",
    ],
    [
      "an apply conflicts with managers of other versions",
      [
        ["applies", "a", "v2", { paint: { colour: "red" } }],
        ["applies", "b", "v1", { colour: "blue" }],
      ],
      {},
      '"a": .paint.colour',
    ],
    [
      "an apply with force takes over from managers of other versions",
      [
        ["applies", "a", "v2", { paint: { colour: "red" } }],
        ["forces", "b", "v1", { colour: "blue" }],
      ],
      { colour: "blue" },
      "b v1 .colour",
    ],
    [
      "a field that is not applied any more remains while a manager of another version owns it",
      [
        ["applies", "a", "v1", { colour: "red", size: 1 }],
        ["applies", "b", "v2", { paint: { colour: "red" } }],
        ["applies", "a", "v1", { flag: true }],
      ],
      { colour: "red", flag: true },
      "a v1 .flag",
      "b v2 .paint.colour",
    ],
    [
      "a field that is not applied any more goes, also where it had another name when it was",
      [
        ["applies", "a", "v2", { paint: { colour: "red" }, size: 1 }],
        ["applies", "a", "v1", { size: 1 }],
      ],
      { size: 1 },
      "a v1 .size",
    ],
    [
      "labels that are not applied any more go, and leave the object its name",
      [
        ["applies", "a", "v2", { metadata: { name: "a", labels: { x: "y" } } }],
        ["applies", "a", "v1", { size: 1 }],
      ],
      { size: 1 },
      "a v1 .size",
    ],
    [
      "a field that is applied by another name than before remains",
      [
        ["applies", "a", "v2", { paint: { colour: "red" }, size: 1 }],
        ["applies", "a", "v1", { colour: "red" }],
      ],
      { colour: "red" },
      "a v1 .colour",
    ],
    [
      "a field remains that another manager owns by the name that it had when it was applied",
      [
        ["applies", "a", "v2", { paint: { colour: "red" }, size: 1 }],
        ["applies", "b", "v2", { paint: { colour: "red" } }],
        ["applies", "a", "v1", { size: 1 }],
      ],
      { colour: "red", size: 1 },
      "a v1 .size",
      "b v2 .paint.colour",
    ],
  ])("%s", (_what, steps, object, ...managers) => {
    expect(after(steps)).toEqual([object, ...managers]);
  });

  test.each<[string, Resets, ...string[]]>([
    ["all that it changes", {}, "b v1 .status.phase"],
    [
      "nothing that its endpoint cannot set",
      { own: pathsSet(["status"]), others: pathsSet(["status"]) },
      "a v1 .status.phase",
      "c v2 .status.phase",
    ],
    ["what its endpoint cannot set in its own version", { own: pathsSet(["status"]) }, "a v1 .status.phase"],
    [
      "what its endpoint cannot set in other versions",
      { others: pathsSet(["status"]) },
      "b v1 .status.phase",
      "c v2 .status.phase",
    ],
  ])("an update takes %s", (_what, resets, ...managers) => {
    const steps: readonly Step[] = [
      ["applies", "a", "v1", { status: { phase: "On" } }],
      ["applies", "c", "v2", { status: { phase: "On" } }],
      ["sets", "b", "v1", { status: { phase: "Off" } }],
    ];
    expect(after(steps.slice(0, 2))).toEqual([{ status: { phase: "On" } }, "a v1 .status.phase", "c v2 .status.phase"]);
    expect(after(steps, resets)).toEqual([{ status: { phase: "Off" } }, ...managers]);
  });

  test.each(["v1", "v2"])(
    "keeps what makes an object, whatever a client says that its manager applied in %s",
    (version) => {
      const server = { "f:apiVersion": {}, "f:kind": {}, "f:metadata": { ".": {}, "f:name": {} }, "f:size": {} };
      const entry = {
        manager: "a",
        operation: "Apply" as const,
        apiVersion: version,
        fieldsType: "FieldsV1",
        fieldsV1: server,
      };
      const live = { apiVersion: "v1", kind: "Thing", metadata: { name: "a", managedFields: [entry] }, size: 1 };
      const applied = { apiVersion: "v1", kind: "Thing", metadata: { name: "a" }, flag: true } as KubeObject;
      const { object } = applyServerSide({ live, applied, manager: "a", typed: typedOf("v1", {}), now: T0 });
      expect(object).toMatchObject(applied);
      expect(object).not.toHaveProperty("size");
    },
  );

  test("that is served no more is forgotten with its managers, and nothing that they applied goes", () => {
    const old = { manager: "a", operation: "Apply" as const, fieldsType: "FieldsV1", fieldsV1: { "f:colour": {} } };
    const both = [
      { ...old, apiVersion: "v0" },
      { ...old, manager: "b", apiVersion: "v1" },
    ];
    const live = { apiVersion: "v1", kind: "Thing", metadata: { name: "m", managedFields: both }, colour: "red" };
    const typed = typedOf("v1", {});
    const managersOf = (object: KubeObject) => object.metadata.managedFields?.map((e) => [e.manager, e.apiVersion]);
    expect(managersOf(trackUpdate({ before: live, after: live, manager: "c", typed }))).toEqual([["b", "v1"]]);
    const applied = { apiVersion: "v1", kind: "Thing", metadata: { name: "m" }, size: 1 } as KubeObject;
    const { object } = applyServerSide({ live, applied, manager: "a", typed, now: T0 });
    expect(object).toMatchObject({ colour: "red", size: 1 });
    expect(managersOf(object)).toEqual([
      ["b", "v1"],
      ["a", "v1"],
    ]);
    const alone = { ...live, metadata: { name: "m", managedFields: both.slice(0, 1) } };
    expect(applyServerSide({ live: alone, applied, manager: "a", typed, now: T0 }).object).toMatchObject({
      colour: "red",
    });
  });
});
