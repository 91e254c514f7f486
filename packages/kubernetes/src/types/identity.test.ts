import { expect, test } from "vitest";
import { controllerOf, isControlledBy, keyOf, ownerReference } from "./identity.ts";

const owner = { apiVersion: "g/v1", kind: "Set", metadata: { name: "s", namespace: "n", uid: "u" } };

test("a controller reference names its one controller", () => {
  const reference = ownerReference(owner, { controller: true });
  expect(reference).toEqual({
    apiVersion: "g/v1",
    kind: "Set",
    name: "s",
    uid: "u",
    controller: true,
    blockOwnerDeletion: true,
  });
  const plain = ownerReference(owner);
  const owned = { ...owner, metadata: { name: "a", ownerReferences: [plain, reference] } };
  expect(controllerOf(owned)).toBe(reference);
  expect(isControlledBy(owned, owner)).toBe(true);
  expect(isControlledBy(owned, { ...owner, metadata: { name: "s", uid: "another" } })).toBe(false);
  expect(controllerOf({ ...owner, metadata: { name: "a", ownerReferences: [plain] } })).toBeUndefined();
});

test("an object that has not been created yet cannot own another", () => {
  expect(() => ownerReference({ ...owner, metadata: { name: "s" } })).toThrow(/no uid/);
});

test("a key has an empty namespace for what is in none", () => {
  expect(keyOf({ ...owner, metadata: { name: "node" } })).toEqual({ namespace: "", name: "node" });
});
