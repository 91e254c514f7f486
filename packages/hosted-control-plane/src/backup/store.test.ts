import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { sealedStore, type ObjectStore } from "./store.ts";

const signal = new AbortController().signal;

function memory(): ObjectStore & { readonly objects: Map<string, Uint8Array> } {
  const objects = new Map<string, Uint8Array>();
  return {
    objects,
    description: "memory",
    put: async (name, data) => void objects.set(name, data),
    get: async (name) => objects.get(name),
    list: async (prefix) => [...objects.keys()].filter((name) => name.startsWith(prefix)).toSorted(),
    delete: async (name) => void objects.delete(name),
  };
}

const refused = (code: string) => expect.objectContaining({ code }) as Error;

test("objects are read with the key and the name that they were written with, and with no other", async () => {
  const [store, key] = [memory(), randomBytes(32)];
  const sealed = sealedStore(store, key);
  await sealed.put("a", { secret: "open" }, signal);
  expect(await sealed.get("a", signal)).toEqual({ secret: "open" });
  const data = Buffer.from(store.objects.get("a") ?? []);
  expect(data.includes("open")).toBe(false);
  store.objects.set("b", data);
  await expect(sealed.get("b", signal)).rejects.toThrow(refused("BACKUP_UNREADABLE"));
  await expect(sealedStore(store, randomBytes(32)).get("a", signal)).rejects.toThrow(refused("BACKUP_UNREADABLE"));
  await expect(sealed.get("c", signal)).rejects.toThrow(refused("BACKUP_INCOMPLETE"));
  for (const at of [0, 5, 20, data.length - 1]) {
    const changed = Buffer.from(data);
    changed[at] = (changed[at] ?? 0) ^ 1;
    store.objects.set("a", changed);
    await expect(sealed.get("a", signal)).rejects.toThrow(refused("BACKUP_UNREADABLE"));
  }
});

test("a key of another length is refused", () => {
  expect(() => sealedStore(memory(), randomBytes(16))).toThrow(refused("BACKUP_KEY_INVALID"));
});
