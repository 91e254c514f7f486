import fc from "fast-check";
import { expect, test } from "vitest";
import { copyJson } from "./json.ts";

test("a copy is the same value, and shares no object with it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const copy = copyJson(value);
      expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
      if (typeof value === "object" && value !== null) expect(copy).not.toBe(value);
    }),
  );
});

test("a copy has the member __proto__ as its own, and does not change what objects inherit", () => {
  const value = JSON.parse('{"__proto__":{"isAdmin":true},"a":[{"b":null}]}') as { a: { b: unknown }[] };
  const copy = copyJson(value);
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"isAdmin":true},"a":[{"b":null}]}');
  expect("isAdmin" in copy).toBe(false);
  expect(copy.a[0]).not.toBe(value.a[0]);
});
