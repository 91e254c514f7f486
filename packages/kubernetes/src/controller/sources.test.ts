import { describe, expect, test } from "vitest";
import type { Change, Informer } from "../cache/interface.ts";
import type { KubeObject, ObjectKey } from "../types/meta.ts";
import { watchInformer, watchOwner, watchWith } from "./sources.ts";

function object(name: string, owner?: string): KubeObject {
  const reference = { apiVersion: "v1", kind: "Set", name: owner ?? "", uid: "u", controller: true };
  return {
    apiVersion: "v1",
    kind: "Thing",
    metadata: { namespace: "n", name, ...(owner ? { ownerReferences: [reference] } : {}) },
  };
}

function source(of: (informer: Informer<KubeObject>) => ReturnType<typeof watchInformer>) {
  const handlers = new Set<(change: Change<KubeObject>) => void>();
  const onChange: Informer<KubeObject>["onChange"] = (handler) => {
    handlers.add(handler);
    return () => handlers.delete(handler);
  };
  const keys: string[] = [];
  const stop = of({ onChange } as Informer<KubeObject>)((key: ObjectKey) => keys.push(`${key.namespace}/${key.name}`));
  return { keys, stop, change: (change: Change<KubeObject>) => handlers.forEach((handler) => handler(change)) };
}

describe("a source", () => {
  test("of an informer names the object, or what the map says", () => {
    const own = source((informer) => watchInformer(informer));
    own.change({ type: "added", object: object("a") });
    expect(own.keys).toEqual(["n/a"]);
    own.stop();
    own.change({ type: "deleted", object: object("a") });
    expect(own.keys).toEqual(["n/a"]);
    const mapped = source((informer) =>
      watchInformer(informer, ({ type }) => (type === "deleted" ? [] : [{ namespace: "", name: "x" }])),
    );
    mapped.change({ type: "added", object: object("a") });
    mapped.change({ type: "deleted", object: object("a") });
    expect(mapped.keys).toEqual(["/x"]);
  });

  test("of an owner names the controller of its kind, also one that was just left", () => {
    const owners = source((informer) => watchOwner(informer, "Set"));
    owners.change({ type: "added", object: object("a", "s") });
    owners.change({ type: "updated", object: object("a", "t"), previous: object("a", "s") });
    owners.change({ type: "updated", object: object("a"), previous: object("a", "t") });
    owners.change({ type: "updated", object: object("b") });
    expect(owners.keys).toEqual(["n/s", "n/t", "n/s", "n/t"]);
    const others = source((informer) => watchOwner(informer, "Other"));
    others.change({ type: "added", object: object("a", "s") });
    expect(others.keys).toEqual([]);
  });

  test("may be anything that can be subscribed to", () => {
    const names: string[] = [];
    const numbers = watchWith<number>(
      (handler) => {
        handler(7);
        return () => {};
      },
      (value) => [{ namespace: "", name: String(value) }],
    );
    numbers((key) => names.push(key.name));
    expect(names).toEqual(["7"]);
  });
});
