import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../types/meta.ts";
import { Store } from "./store.ts";

const object = (name: string, revision: number, group = ""): KubeObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { namespace: "n", name, resourceVersion: String(revision), labels: { group } },
});
const key = (name: string) => ({ namespace: "n", name });
const byGroup = { group: (each: KubeObject) => [each.metadata.labels?.["group"] ?? ""] };

describe("a store", () => {
  test("does not bring back what was deleted, when an older write of ours is observed", () => {
    const store = new Store();
    store.replace([], "1");
    store.observeEvent("ADDED", object("a", 2));
    store.observeEvent("DELETED", object("a", 4));
    expect(store.observe(object("a", 3))).toBeUndefined();
    expect(store.get(key("a"))).toBeUndefined();
  });

  test("takes in that the last finalizer is gone, though the response has the revision of before", () => {
    const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };
    const withMetadata = (more: Partial<KubeObject["metadata"]>) => {
      const { metadata, ...rest } = object("a", 4);
      return { ...rest, metadata: { ...metadata, uid: "one", ...more } };
    };
    const held = withMetadata({ ...deleted, finalizers: ["example.com/hold"] });
    const store = new Store();
    store.replace([held], "4");
    const others = [
      { finalizers: [] },
      { ...deleted, finalizers: ["example.com/other"] },
      { ...deleted, uid: "two" },
      { ...deleted, resourceVersion: "3" },
    ];
    for (const other of others) expect(store.observe(withMetadata(other))).toBeUndefined();
    const released = withMetadata(deleted);
    expect(store.observe(released)).toEqual({ type: "updated", object: released, previous: held });
    expect(store.observe(withMetadata(deleted))).toBeUndefined();
    // The watch delivers the older event, and then the deletion.
    expect(store.observeEvent("MODIFIED", held)).toBeUndefined();
    expect(store.get(key("a"))).toBe(released);
    expect(store.observeEvent("DELETED", withMetadata({ ...deleted, resourceVersion: "5" }))?.type).toBe("deleted");
    expect(store.observe(released)).toBeUndefined();
  });

  test("keeps what we created after the list was read", () => {
    const store = new Store();
    store.replace([], "5");
    store.observe(object("a", 8));
    expect(store.replace([], "7")).toEqual([]);
    expect(store.get(key("a"))).toBeDefined();
    expect(store.replace([], "9").map((change) => change.type)).toEqual(["deleted"]);
  });

  test("ignores the deletion of an object that has been recreated since", () => {
    const store = new Store();
    store.replace([object("a", 2)], "2");
    store.observe(object("a", 6));
    expect(store.observeEvent("DELETED", object("a", 5))).toBeUndefined();
    expect(store.get(key("a"))?.metadata.resourceVersion).toBe("6");
  });

  test("believes the list of a server that was restored to an older revision", () => {
    const store = new Store();
    store.replace([object("a", 90), object("b", 80)], "100");
    const changes = store.replace([object("a", 10)], "20");
    expect(changes.map((change) => `${change.type} ${change.object.metadata.name}`)).toEqual([
      "deleted b",
      "updated a",
    ]);
  });

  test("finds by index what it holds, and nothing else", () => {
    const store = new Store();
    store.replace([object("a", 1, "x"), object("b", 2, "x")], "2");
    store.addIndexes(byGroup);
    store.observeEvent("MODIFIED", object("a", 3, "y"));
    expect(store.byIndex("group", "x").map((each) => each.metadata.name)).toEqual(["b"]);
    expect(store.byIndex("group", "y").map((each) => each.metadata.name)).toEqual(["a"]);
    store.observeEvent("DELETED", object("b", 4, "moved"));
    expect(store.byIndex("group", "x")).toEqual([]);
  });

  test("ends equal to the server, in whatever order our writes and the watch events arrive", () => {
    const names = fc.constantFrom("a", "b", "c");
    const history = fc.array(fc.record({ name: names, remove: fc.boolean(), early: fc.nat(6), group: names }));
    fc.assert(
      fc.property(history, fc.nat(20), (steps, listAt) => {
        const store = new Store();
        store.addIndexes(byGroup);
        const truth = new Map<string, KubeObject>();
        const log: { type: "ADDED" | "MODIFIED" | "DELETED"; object: KubeObject; early: number }[] = [];
        const listed: { items: KubeObject[]; at: number } = { items: [], at: 0 };
        for (const [i, step] of steps.entries()) {
          const next = object(step.name, i + 1, step.group);
          const exists = truth.has(step.name);
          if (step.remove && !exists) continue;
          if (step.remove) truth.delete(step.name);
          else truth.set(step.name, next);
          log.push({ type: step.remove ? "DELETED" : exists ? "MODIFIED" : "ADDED", object: next, early: step.early });
          if (log.length === listAt) Object.assign(listed, { items: [...truth.values()], at: i + 1 });
        }
        const known = new Map<string, number>();
        const follow = (change: { type: string; object: KubeObject } | undefined) => {
          if (change?.type === "deleted") known.delete(change.object.metadata.name);
          else if (change) known.set(change.object.metadata.name, Number(change.object.metadata.resourceVersion));
        };
        for (const change of store.replace(listed.items, String(listed.at))) follow(change);
        const events = log.slice(listed.at === 0 ? 0 : listAt);
        // The response to our own write arrives up to six events before its watch event, or after it.
        for (const [i, event] of events.entries()) {
          for (const write of events.slice(Math.max(0, i - 2), i + 6)) {
            if (write.type !== "DELETED" && write.early % 3 === i % 3) follow(store.observe(write.object));
          }
          follow(store.observeEvent(event.type, event.object));
        }
        const held = (items: readonly KubeObject[]) =>
          items.map((each) => Number(each.metadata.resourceVersion)).toSorted((a, b) => a - b);
        expect(held(store.list())).toEqual(held([...truth.values()]));
        expect([...known.values()].toSorted((a, b) => a - b)).toEqual(held(store.list()));
        for (const group of ["a", "b", "c"]) {
          const expected = [...truth.values()].filter((each) => each.metadata.labels?.["group"] === group);
          expect(held(store.byIndex("group", group))).toEqual(held(expected));
        }
      }),
    );
  });
});
