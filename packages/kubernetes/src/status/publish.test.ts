import { expect, test } from "vitest";
import type { KubernetesClient } from "../client/interface.ts";
import type { Condition, Resource, ResourceType } from "../types/meta.ts";
import { publishStatus } from "./publish.ts";
import { compareStatus } from "./same-status.ts";

const Thing: ResourceType<Resource<unknown, object>> = {
  group: "g",
  version: "v1",
  kind: "Thing",
  plural: "things",
  namespaced: true,
};
const ready = (status: Condition["status"], time: string, reason = "R"): Condition => ({
  type: "Ready",
  status,
  reason,
  lastTransitionTime: time,
});
const thing = (status?: object): Resource<unknown, object> => ({
  apiVersion: "g/v1",
  kind: "Thing",
  metadata: { namespace: "n", name: "a", uid: "u", resourceVersion: "1" },
  spec: {},
  ...(status ? { status } : {}),
});

/** A client that counts its applies; what exists afterwards is what `merge` makes of the applied status. */
function counting(merge: (status: object) => object = (status) => status) {
  const applied: unknown[] = [];
  const apply = (_: unknown, object: { status: object }) => {
    applied.push(object.status);
    return Promise.resolve(thing(merge(object.status)));
  };
  return { applied, client: { apply } as unknown as KubernetesClient };
}

const options = (status: object) => ({ status, fieldManager: "me" });

test("a status that exists already is not written", async () => {
  const { client, applied } = counting();
  const standing = thing({ phase: "Up", list: [{ a: 1 }], conditions: [ready("True", "t1")] });
  const same = { phase: "Up", absent: undefined, list: [{ a: 1 }], conditions: [ready("True", "t2")] };
  expect(await publishStatus(client, Thing, standing, options(same))).toBe(standing);
  expect(applied).toEqual([]);
});

test("no status is written to a deleted object that nothing holds any more", async () => {
  const deleted = { ...thing().metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
  const writes = async (metadata: object, more: object = {}): Promise<number> => {
    const { client, applied } = counting();
    await publishStatus(
      client,
      Thing,
      { ...thing(), ...more, metadata: { ...deleted, ...metadata } },
      options({ a: 1 }),
    );
    return applied.length;
  };
  expect(await writes({})).toBe(0);
  expect(await writes({ finalizers: ["example.com/hold"] })).toBe(1);
  expect(await writes({ deletionGracePeriodSeconds: 30 })).toBe(1);
  const spec = { finalizers: ["kubernetes"] };
  expect(await writes({}, { kind: "Namespace", spec })).toBe(1);
  expect(await writes({}, { spec })).toBe(0);
});

test("a status is encoded to be remembered only where others have fields in it", async () => {
  let encoded = 0;
  const list = Object.assign(["a"], { toJSON: () => (encoded += 1) });
  for (const [others, times] of [
    [{}, 0],
    [{ phase: "theirs" }, 1],
  ] as const) {
    const { client, applied } = counting((status) => ({ ...status, ...others }));
    await publishStatus(client, Thing, thing(), options({ list }));
    await publishStatus(client, Thing, thing({ list: ["a"] }), options({ list }));
    expect([applied.length, encoded]).toEqual([1, times]);
  }
});

test("a changed status is written once, with the transition times of what has not turned", async () => {
  const { client, applied } = counting();
  const standing = thing({ phase: "Up", conditions: [ready("True", "t1")] });
  await publishStatus(client, Thing, standing, options({ phase: "Down", conditions: [ready("True", "t2", "Other")] }));
  expect(applied).toEqual([{ phase: "Down", conditions: [ready("True", "t1", "Other")] }]);
});

test("a field of ours that is no longer set is removed", async () => {
  const { client, applied } = counting();
  await publishStatus(client, Thing, thing({ phase: "Up", error: "old" }), options({ phase: "Up" }));
  expect(applied).toEqual([{ phase: "Up" }]);
});

test("fields of another manager cost one write, not one each time", async () => {
  const { client, applied } = counting((status) => ({ ...status, other: "theirs" }));
  const first = await publishStatus(client, Thing, thing({ phase: "Up", other: "theirs" }), options({ phase: "Up" }));
  await publishStatus(client, Thing, first, options({ phase: "Up" }));
  expect(applied).toHaveLength(1);
  const second = await publishStatus(client, Thing, first, options({ phase: "Up", more: 1 }));
  await publishStatus(client, Thing, second, options({ phase: "Up" }));
  expect(applied).toHaveLength(3);
});

test("an object without a status gets its first", async () => {
  const { client, applied } = counting();
  await publishStatus(client, Thing, thing(), options({ phase: "Up" }));
  expect(applied).toHaveLength(1);
});

test.each<[string, unknown, unknown, { same: boolean; more: boolean }]>([
  ["equal values", { a: [1, { b: null }] }, { a: [1, { b: null }] }, { same: true, more: false }],
  ["another field, deep inside", { a: { b: 1 } }, { a: { b: 1, c: 2 } }, { same: true, more: true }],
  ["a list that is longer", { a: [1] }, { a: [1, 2] }, { same: false, more: false }],
  ["another order", { a: [1, 2] }, { a: [2, 1] }, { same: false, more: false }],
  ["an object for a value", { a: 1 }, { a: {} }, { same: false, more: false }],
  [
    "conditions in another order",
    [ready("True", "x"), { ...ready("False", "x"), type: "B" }],
    [{ ...ready("False", "y"), type: "B" }, ready("True", "y")],
    { same: true, more: false },
  ],
  [
    "another condition",
    [ready("True", "x")],
    [ready("True", "x"), { ...ready("True", "x"), type: "B" }],
    { same: true, more: true },
  ],
  ["a condition that turned", [ready("True", "x")], [ready("False", "x")], { same: false, more: false }],
])("the comparison of two statuses finds %s", (_, wanted, standing, expected) => {
  expect(compareStatus(wanted, standing)).toEqual(expected);
});
