import { describe, expect, test } from "vitest";
import type { KubeObject, ManagedFieldsEntry } from "@causeway/kubernetes";
import { EMPTY, pathsSet, printedPaths } from "./field-set.ts";
import { applyConflictMessage, conflictsOf } from "./manager-conflicts.ts";
import {
  capUpdaters,
  managerKey,
  ownable,
  readManagers,
  sortKey,
  withManagers,
  writeManagers,
  type Manager,
} from "./managers.ts";

const manager = (name: string, more: Partial<Manager> = {}): Manager => ({
  name,
  operation: "Update",
  apiVersion: "v1",
  subresource: "",
  time: undefined,
  fields: pathsSet([name]),
  ...more,
});
const managers = (...all: readonly Manager[]): Map<string, Manager> => new Map(all.map((m) => [managerKey(m), m]));
const entry = (more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager: "m",
  operation: "Apply",
  apiVersion: "v1",
  fieldsType: "FieldsV1",
  fieldsV1: { "f:a": {} },
  ...more,
});

describe("two entries are the same manager", () => {
  test.each<[string, Partial<Manager>, boolean]>([
    ["with other times and fields", { time: "t", fields: EMPTY }, true],
    ["not with other names", { name: "b" }, false],
    ["not with other operations", { operation: "Apply" }, false],
    ["not with other versions", { apiVersion: "v2" }, false],
    ["not with other subresources", { subresource: "status" }, false],
  ])("%s", (_what, more, expected) => {
    expect(managerKey(manager("a", more)) === managerKey(manager("a"))).toBe(expected);
  });

  test("with other versions if they apply", () => {
    const applier = manager("a", { operation: "Apply" });
    expect(managerKey({ ...applier, apiVersion: "v2" })).toBe(managerKey(applier));
  });
});

describe("managedFields", () => {
  test("are read with what they name", () => {
    const read = readManagers([entry({ time: "t", subresource: "status" }), entry({ operation: "Update" })]);
    expect([...(read?.values() ?? [])]).toEqual([
      { ...manager("m"), operation: "Apply", time: "t", subresource: "status", fields: pathsSet(["a"]) },
      { ...manager("m"), fields: pathsSet(["a"]) },
    ]);
    const { manager: _name, ...nameless } = entry();
    expect([...(readManagers([nameless])?.values() ?? [])][0]?.name).toBe("");
    expect(readManagers(undefined)?.size).toBe(0);
  });

  test.each<[string, Partial<ManagedFieldsEntry>]>([
    ["the operation is unknown", { operation: "Other" as "Apply" }],
    ["the version is missing", { apiVersion: "" }],
    ["the type of the fields is unknown", { fieldsType: "FieldsV2" as "FieldsV1" }],
  ])("are not read where %s", (_what, more) => {
    expect(readManagers([entry(), entry(more)])).toBeUndefined();
  });

  // The order is that of apimachinery's pkg/util/managedfields/internal/managers_test.go.
  test("are written in order, without managers that own nothing", () => {
    const apply = { operation: "Apply" } as const;
    const written = writeManagers(
      managers(
        manager("u2", { time: "2" }),
        manager("gone", { fields: EMPTY }),
        manager("u1", { time: "1" }),
        manager("b", { time: "1", apiVersion: "v2" }),
        manager("b", { time: "1", apiVersion: "v1" }),
        manager("b", { time: "1", subresource: "status" }),
        manager("a2", { ...apply, time: "2" }),
        manager("a1", { ...apply, time: "2" }),
        manager("never"),
      ),
    );
    expect(
      written.map(
        (m) => `${m.operation} ${m.time ?? ""} ${m.manager ?? ""} ${m.apiVersion ?? ""} ${m.subresource ?? ""}`,
      ),
    ).toEqual([
      "Apply 2 a1 v1 ",
      "Apply 2 a2 v1 ",
      "Update  never v1 ",
      "Update 1 b v1 ",
      "Update 1 b v1 status",
      "Update 1 b v2 ",
      "Update 1 u1 v1 ",
      "Update 2 u2 v1 ",
    ]);
    expect(written[2]).toEqual(entry({ manager: "never", operation: "Update", fieldsV1: { "f:never": {} } }));
    expect(written[3]).toMatchObject({ time: "1" });
  });

  test("are those of the object", () => {
    const object = { metadata: { name: "o", managedFields: [entry()] } } as KubeObject;
    expect(withManagers(object, new Map()).metadata).toEqual({ name: "o" });
    expect(withManagers(object, managers(manager("a"))).metadata).toEqual({
      name: "o",
      managedFields: [entry({ manager: "a", operation: "Update", fieldsV1: { "f:a": {} } })],
    });
  });

  test("have no fields that only the server sets", () => {
    const server = [
      "name",
      "namespace",
      "creationTimestamp",
      "selfLink",
      "uid",
      "clusterName",
      "generation",
      "managedFields",
      "resourceVersion",
    ];
    const all = pathsSet(
      ["apiVersion"],
      ["kind"],
      ["metadata"],
      ["metadata", "labels"],
      ["spec"],
      ...server.map((n) => ["metadata", n]),
    );
    expect(printedPaths(ownable({ ...all, member: true }))).toEqual([".spec", ".metadata.labels"]);
    expect(ownable({ ...all, member: true }).member).toBe(false);
  });
});

// The rows are those of apimachinery's pkg/util/managedfields/internal/capmanagers_test.go.
describe("updaters beyond ten", () => {
  const many = (count: number, more: Partial<Manager> = {}): Manager[] =>
    Array.from({ length: count }, (_, i) =>
      manager(`m${String(i).padStart(2, "0")}`, { time: `${String(i).padStart(2, "0")}`, ...more }),
    );
  const kept = (...all: readonly Manager[]): string[] =>
    [...capUpdaters(managers(...all)).values()]
      .map(
        ({ name, apiVersion, time, fields }) => `${name} ${apiVersion} ${time ?? ""} ${printedPaths(fields).join("")}`,
      )
      .toSorted();

  test("remain as they are up to ten", () => {
    expect(kept(...many(10))).toHaveLength(10);
    expect(kept(...many(10)).join()).not.toContain("ancient-changes");
    expect(kept(...many(12, { operation: "Apply" }))).toHaveLength(12);
  });

  test("share one entry, the oldest first", () => {
    const result = kept(...many(12).toReversed());
    expect(result).toHaveLength(10);
    expect(result[0]).toBe("ancient-changes v1 02 .m00.m01.m02");
    expect(result[1]).toBe("m03 v1 03 .m03");
  });

  test("share one entry for each version", () => {
    const [old, recent] = [many(6, { apiVersion: "v1" }), many(6, { apiVersion: "v2" })];
    const result = kept(...old, ...recent);
    expect(result).toHaveLength(10);
    expect(result.slice(0, 2)).toEqual(["ancient-changes v1 01 .m00.m01", "ancient-changes v2 01 .m00.m01"]);
  });

  test("join those that share an entry", () => {
    const ancient = manager("ancient-changes", { time: "00", fields: pathsSet(["x"]) });
    const result = kept(ancient, ...many(10));
    expect(result).toHaveLength(10);
    expect(result[0]).toBe("ancient-changes v1 00 .m00.x");
  });

  test("of other subresources share an entry with none", () => {
    const result = capUpdaters(managers(...many(11, { subresource: "status" })));
    expect(result.size).toBe(10);
    expect([...result.values()].find(({ name }) => name === "ancient-changes")).toMatchObject({
      subresource: "",
      time: "01",
    });
  });

  test("of one time are the oldest by what they are", () => {
    const same = many(11).map((m) => ({ ...m, time: "00" }));
    for (const all of [same, same.toReversed()]) {
      expect(kept(...all)[0]).toBe("ancient-changes v1 00 .m00.m01");
    }
  });

  test("without a time are the oldest", () => {
    expect(kept(manager("z"), ...many(10))[0]).toBe("ancient-changes v1 00 .m00.z");
  });
});

describe("a conflict", () => {
  const update = manager("b", { fields: pathsSet(["spec", "replicas"], ["spec", "paused"]) });
  const status = manager("a", { subresource: "status", fields: pathsSet(["status"]) });
  const apply = manager("c", { operation: "Apply", fields: pathsSet(["spec", "paused"]) });

  test("names the manager and the field, appliers first", () => {
    const found = conflictsOf([update, manager("none", { fields: EMPTY }), status, apply].map((m) => [m, m.fields]));
    expect(found.map(({ manager: name, field, message }) => [name, field, message])).toEqual([
      ['"a" with subresource "status" using v1', ".status", 'conflict with "a" with subresource "status" using v1'],
      ['"b" using v1', ".spec.paused", 'conflict with "b" using v1'],
      ['"b" using v1', ".spec.replicas", 'conflict with "b" using v1'],
      ['"c"', ".spec.paused", 'conflict with "c"'],
    ]);
    expect(applyConflictMessage(found)).toBe(
      'Apply failed with 4 conflicts: conflicts with "a" with subresource "status" using v1:\n- .status\n' +
        'conflicts with "b" using v1:\n- .spec.paused\n- .spec.replicas\nconflicts with "c":\n- .spec.paused',
    );
    expect(applyConflictMessage(found.slice(0, 1))).toBe(
      'Apply failed with 1 conflict: conflict with "a" with subresource "status" using v1: .status',
    );
  });

  test.each<[Partial<Manager>, string]>([
    [{}, '{"manager":"m","operation":"Update","apiVersion":"v1"}'],
    [{ operation: "Apply" }, '{"manager":"m","operation":"Apply"}'],
    [{ name: "", subresource: "status" }, '{"operation":"Update","apiVersion":"v1","subresource":"status"}'],
  ])("is ordered by what %j says", (more, expected) => {
    expect(sortKey(manager("m", more))).toBe(expected);
  });
});
