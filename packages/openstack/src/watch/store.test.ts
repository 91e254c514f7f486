import { expect, test } from "vitest";
import { ObjectStore } from "./store.ts";

interface Thing {
  readonly id: string;
  readonly status: string;
}

test("an object that may change by itself is found without a search, whatever becomes of it", () => {
  const store = new ObjectStore<Thing>({}, false, ({ status }) => status === "changing");
  const expectChanging = (...ids: string[]) => {
    const found = [...store.changing()].map(({ object }) => object);
    expect(found.map(({ id }) => id).sort()).toEqual(ids);
    expect(found).toEqual(store.list().filter(({ status }) => status === "changing"));
  };
  store.put({ id: "a", status: "changing" }, 0);
  store.put({ id: "b", status: "still" }, 0);
  expectChanging("a");
  store.put({ id: "a", status: "changing" }, 1);
  store.put({ id: "b", status: "changing" }, 1);
  expectChanging("a", "b");
  store.put({ id: "a", status: "still" }, 2);
  expectChanging("b");
  store.put({ id: "a", status: "changing" }, 3);
  store.remove("b");
  store.remove("unknown");
  expectChanging("a");
});
