import fc from "fast-check";
import { expect, test } from "vitest";
import { copied, same } from "./json.ts";

test("a copy is the same value, and shares no object with it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const copy = copied(value);
      expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
      expect(same(copy, value)).toBe(true);
      if (typeof value === "object" && value !== null) expect(copy).not.toBe(value);
    }),
  );
});

test("a copy has the member __proto__ as its own, and does not change what objects inherit", () => {
  const value = JSON.parse('{"__proto__":{"isAdmin":true},"a":[{"b":null}]}') as { a: { b: unknown }[] };
  const copy = copied(value);
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"isAdmin":true},"a":[{"b":null}]}');
  expect("isAdmin" in copy).toBe(false);
  expect(copy.a[0]).not.toBe(value.a[0]);
});
