import type { ObjectStore } from "@causeway/hosted-control-plane";
import { expect, test } from "vitest";
import { heldStore } from "./store.ts";

const { signal } = new AbortController();

test("a store of backups keeps every object while deletions are held, and takes new ones", async () => {
  const objects = new Map<string, Uint8Array>();
  const store: ObjectStore = {
    description: "a map",
    put: async (name, data) => void objects.set(name, data),
    get: async (name) => objects.get(name),
    list: async (prefix) => [...objects.keys()].filter((name) => name.startsWith(prefix)),
    delete: async (name) => void objects.delete(name),
  };
  let isHeld = true;
  const held = heldStore(store, { holdDeletions: () => isHeld });
  await held.put("a/1", new Uint8Array(1), signal);
  await expect(held.delete("a/1", signal)).rejects.toMatchObject({ code: "CLOUD_DELETIONS_HELD" });
  expect([await held.list("a/", signal), await held.get("a/1", signal)]).toEqual([["a/1"], new Uint8Array(1)]);
  isHeld = false;
  await held.delete("a/1", signal);
  expect(await heldStore(store, {}).list("a/", signal)).toEqual([]);
});
