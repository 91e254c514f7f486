import type { KubeObject } from "@causeway/kubernetes";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileSchema } from "../schema/index.ts";
import { growthOf, LINEAR } from "../testing/growth.ts";
import { Tables } from "../wire/tables.ts";
import { difference, type FieldSet, intersection, union, unionOf, without } from "./apply/field-set.ts";
import { capUpdaters, type Manager, managerKey } from "./apply/managers.ts";
import {
  applyConflictMessage,
  applyJsonPatch,
  applyServerSide,
  applyStrategicMergePatch,
  BuiltInTypes,
  NO_FIELDS,
  pathsSet,
  type Typed,
} from "./index.ts";
import { deduplicated } from "./strategic-lists.ts";

const TYPES = new BuiltInTypes(new Tables());
const named = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, i) => ({ name: `n${i}`, ...more }));
const pod = (containers: readonly object[], finalizers: readonly string[] = []) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", finalizers },
  spec: { containers },
});

describe("a JSON patch of bounded cost", () => {
  const adds = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ op: "add", path: `/data/k${i}`, value: {} }));
  const doubles = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ op: "copy", from: "/data", path: `/data/c${i}` }));

  it("takes time linear in the number of operations", () => {
    expect(growthOf(adds, (operations) => applyJsonPatch({ data: {} }, operations), 300)).toBeLessThan(LINEAR);
  });

  it("refuses copies that add more than a request may have, and copies that nest", () => {
    const data = { x: "x".repeat(1000) };
    expect(applyJsonPatch({ data }, doubles(10))).toHaveProperty("data.c9.c8.c7.x");
    for (const count of [12, 18, 40, 10_000]) {
      expect(() => applyJsonPatch({ data }, doubles(count)), String(count)).toThrow(
        "copies add more than 3145728 bytes",
      );
    }
    expect(() => applyJsonPatch({ data: {} }, doubles(10_000))).toThrow("copies add more than 3145728 bytes");
  });

  it("reads what it copies once, however often it copies it", () => {
    let reads = 0;
    const counted = {
      get x() {
        reads += 1;
        return "x";
      },
    };
    const copies = Array.from({ length: 60 }, () => ({ op: "copy", from: "/list", path: "/list/-" }));
    expect(() => applyJsonPatch({ list: [counted] }, copies)).toThrow("copies add more than 3145728 bytes");
    expect(reads).toBeLessThan(10);
  });

  it("refuses a result with more bytes or levels than a body may have", () => {
    const large = { a: "x".repeat(2_000_000) };
    expect(() => applyJsonPatch(large, [{ op: "add", path: "/b", value: "x".repeat(2_000_000) }])).toThrow(
      expect.objectContaining({ code: "PATCH_TOO_LARGE" }),
    );
    const nested = Array.from({ length: 600 }, (_, i) => ({ op: "add", path: "/a".repeat(i + 1), value: {} }));
    expect(() => applyJsonPatch({}, nested)).toThrow(expect.objectContaining({ code: "PATCH_FAILED" }));
    expect(applyJsonPatch({}, nested.slice(0, 400))).toHaveProperty("a");
  });

  it("refuses operations that move the items of a long list, or count the members of a large object, again and again", () => {
    const list = Array.from({ length: 50_000 }, () => 0);
    const members = Object.fromEntries(list.map((_, i) => [`k${i}`, 0]));
    const repeated = (operation: object): object[] => Array.from({ length: 5000 }, () => operation);
    for (const operation of [
      { op: "add", path: "/list/0", value: 1 },
      { op: "remove", path: "/list/0" },
      { op: "move", from: "/list/0", path: "/list/1" },
    ]) {
      expect(() => applyJsonPatch({ list }, repeated(operation))).toThrow("the operations cost too much");
      expect(applyJsonPatch({ list }, [operation])).toHaveProperty("list");
    }
    const same = repeated({ op: "test", path: "/members", value: members });
    expect(() => applyJsonPatch({ members }, same)).toThrow("the operations cost too much");
    expect(() => applyJsonPatch({ a: { members } }, repeated({ op: "test", path: "/a", value: { members } }))).toThrow(
      "the operations cost too much",
    );
  });

  it("takes any number of operations at the end of a long list", () => {
    const list = Array.from({ length: 50_000 }, () => 0);
    const adds = Array.from({ length: 3000 }, (_, i) => ({
      op: "add",
      path: i % 2 ? "/list/-" : "/list/50000",
      value: 1,
    }));
    const removals = Array.from({ length: 3000 }, (_, i) => ({ op: "remove", path: `/list/${49_999 - i}` }));
    expect(applyJsonPatch({ list }, adds)).toHaveProperty("list.length", 53_000);
    expect(applyJsonPatch({ list }, removals)).toHaveProperty("list.length", 47_000);
  });

  it("does not change the values of the patch", () => {
    const operations = [
      { op: "add", path: "/a", value: { b: {} } },
      { op: "add", path: "/a/b/c", value: 1 },
    ];
    expect(applyJsonPatch({}, operations)).toEqual({ a: { b: { c: 1 } } });
    expect(applyJsonPatch({}, operations)).toEqual({ a: { b: { c: 1 } } });
    expect(operations[0]?.value).toEqual({ b: {} });
  });
});

describe("the cost of a strategic merge patch", () => {
  it("is linear in the items of a list with a merge key", () => {
    const lists = (count: number) => ({
      live: pod(named(count, { image: "a" })),
      patch: {
        spec: {
          containers: [...named(count, { image: "b" }).toReversed(), { $patch: "delete", name: "n0" }],
          "$setElementOrder/containers": named(count).toReversed(),
        },
      },
    });
    const merged = ({ live, patch }: ReturnType<typeof lists>) => applyStrategicMergePatch(live, patch, TYPES);
    expect(growthOf(lists, merged, 150)).toBeLessThan(LINEAR);
    expect(merged(lists(3))).toMatchObject({
      spec: { containers: [{ name: "n2", image: "b" }, { name: "n1" }, { name: "n0" }] },
    });
  });

  it("is linear in the values of a list, and in those that are there twice or deleted", () => {
    const texts = (count: number) => Array.from({ length: count }, (_, i) => `d/f${i % (count >> 1)}`);
    const merged = (given: string[]) =>
      applyStrategicMergePatch(pod([], given), { metadata: { finalizers: given } }, TYPES);
    const removed = (given: string[]) =>
      applyStrategicMergePatch(pod([], given), { metadata: { "$deleteFromPrimitiveList/finalizers": given } }, TYPES);
    for (const work of [merged, removed]) expect(growthOf(texts, work, 300)).toBeLessThan(LINEAR);
  });

  it("gives the place of a value that came twice to the last one, as kube-apiserver does", () => {
    const slowly = (items: readonly string[]): string[] => {
      const left = [...items];
      for (let i = 0; i < left.length - 1; i += 1) {
        for (let j = i + 1; j < left.length; j += 1) {
          if (left[i] !== left[j]) continue;
          left[j] = left.at(-1) ?? "";
          left.pop();
          j -= 1;
        }
      }
      return left;
    };
    fc.assert(
      fc.property(fc.array(fc.constantFrom(..."abcdefg".split("")), { minLength: 1, maxLength: 12 }), (values) => {
        expect(deduplicated(values)).toEqual(slowly(values));
      }),
    );
  });
});

const configMap = (data: Record<string, string>): KubeObject =>
  ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m" }, data }) as unknown as KubeObject;
const MAP: Typed = { apiVersion: "v1", type: TYPES.ofKind("v1", "ConfigMap"), reset: NO_FIELDS, form: () => undefined };
const keys = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]));
const NOW = "2026-01-01T00:00:00Z";

describe("the cost of server-side apply", () => {
  it("is linear in the managers of an object, and in what they own together", () => {
    const owned = (managers: number): KubeObject => {
      const fieldsV1 = { "f:data": Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f:k${i}`, {}])) };
      const managedFields = Array.from({ length: managers }, (_, i) => ({
        manager: `m${i}`,
        operation: "Apply" as const,
        apiVersion: "v1",
        time: NOW,
        fieldsType: "FieldsV1",
        fieldsV1,
      }));
      const object = configMap(keys(50, "v"));
      return { ...object, metadata: { ...object.metadata, managedFields } } as KubeObject;
    };
    const applied = configMap({ ...keys(49, "v"), other: "x" });
    const apply = (live: KubeObject) => applyServerSide({ live, applied, manager: "m0", typed: MAP, now: NOW });
    expect(growthOf(owned, apply, 10)).toBeLessThan(LINEAR);
    expect(apply(owned(3)).object).toMatchObject({ data: { ...keys(50, "v"), other: "x" } });
    expect(apply(owned(1)).object).not.toHaveProperty("data.k49");
  });

  it("is linear in the items of an associative list, and in items of one key", () => {
    const item = { type: "object", properties: { id: { type: "string" }, v: { type: "string" } }, required: ["id"] };
    const list = {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["id"],
      items: item,
    };
    const { type } = compileSchema({ type: "object", properties: { list } });
    const typed: Typed = { apiVersion: "x/v1", type, reset: NO_FIELDS, form: () => undefined };
    const custom = (items: readonly object[]) =>
      ({ apiVersion: "x/v1", kind: "X", metadata: { name: "x" }, list: items }) as unknown as KubeObject;
    const items = (count: number, distinct: number) =>
      Array.from({ length: count }, (_, i) => ({ id: `i${i % distinct}`, v: "a" }));
    const ordered = (count: number) => [custom(items(count, count)), custom(items(count, count).toReversed())] as const;
    const doubled = (count: number) => [custom(items(count, 1)), custom(items(1, 1))] as const;
    const apply = ([live, applied]: readonly [KubeObject, KubeObject]) =>
      applyServerSide({ live, applied, manager: "m", force: true, typed, now: NOW });
    for (const make of [ordered, doubled]) expect(growthOf(make, apply, 150)).toBeLessThan(LINEAR);
  });

  it("is linear in conflicts, of which a message names each once", () => {
    const conflicts = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ manager: `"m${i}"`, field: ".a", message: "" }));
    expect(growthOf(conflicts, applyConflictMessage, 500)).toBeLessThan(LINEAR);
  });

  it("is linear in faults of the configuration, of which a thousand are reported", () => {
    const applied = (count: number) =>
      ({
        ...configMap({}),
        data: Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, {}])),
      }) as KubeObject;
    const apply = (given: KubeObject) => applyServerSide({ applied: given, manager: "m", typed: MAP, now: NOW });
    expect(() => apply(applied(200_000))).toThrow(expect.objectContaining({ code: "APPLY_INVALID" }));
    try {
      apply(applied(5000));
    } catch (error) {
      expect(String(error).split("\n")).toHaveLength(1001);
    }
  });
});

describe("managers by update", () => {
  const updaters = (count: number) =>
    new Map(
      Array.from({ length: count }, (_, i): [string, Manager] => {
        const manager = { name: `m${i}`, operation: "Update" as const, apiVersion: "v1", subresource: "" };
        return [managerKey(manager), { ...manager, time: NOW, fields: pathsSet(["data", `k${i}`]) }];
      }),
    );

  it("beyond ten share one entry, which is made in time linear in their number", () => {
    expect(growthOf(updaters, capUpdaters, 100)).toBeLessThan(LINEAR);
    const left = [...capUpdaters(updaters(30)).values()];
    expect(left).toHaveLength(10);
    const ancient = left.find((m) => m.name === "ancient-changes");
    expect(ancient?.fields.children.get("f:data")?.children.size).toBe(21);
  });
});

describe("sets of fields", () => {
  const path = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 });
  const set = fc.array(path, { maxLength: 6 }).map((paths) => pathsSet(...paths));
  const pathsOf = (fields: FieldSet, prefix = ""): string[] => [
    ...(fields.member ? [prefix] : []),
    ...[...fields.children].flatMap(([element, child]) => pathsOf(child, `${prefix}/${element}`)),
  ];

  it("are united, intersected and subtracted path by path, and remain as they were given", () => {
    fc.assert(
      fc.property(set, set, set, (a, b, c) => {
        const [x, y] = [new Set(pathsOf(a)), new Set(pathsOf(b))];
        const before = [pathsOf(a), pathsOf(b)];
        expect(new Set(pathsOf(union(a, b)))).toEqual(x.union(y));
        expect(new Set(pathsOf(unionOf([a, b, c])))).toEqual(x.union(y).union(new Set(pathsOf(c))));
        expect(new Set(pathsOf(intersection(a, b)))).toEqual(x.intersection(y));
        expect(new Set(pathsOf(difference(a, b)))).toEqual(x.difference(y));
        const kept = [...x].filter((one) => ![...y].some((other) => one === other || one.startsWith(`${other}/`)));
        expect(new Set(pathsOf(without(a, b)))).toEqual(new Set(kept));
        expect([pathsOf(a), pathsOf(b)]).toEqual(before);
      }),
    );
  });
});
