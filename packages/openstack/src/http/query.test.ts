import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeQuery, splitQuery } from "./query.ts";

it("leaves a query that is short enough as it is", () => {
  expect(splitQuery({ name: "a", id: ["1", "2"] })).toEqual([{ name: "a", id: ["1", "2"] }]);
});

it("never asks for all where the list of wanted ones is empty", () => {
  expect(splitQuery({ id: [] })).toEqual([]);
});

it("asks in parts for every value exactly once, with the other filters in each", () => {
  const values = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 600 });
  fc.assert(
    fc.property(values, (id) => {
      const parts = splitQuery({ id, name: "x" });
      expect(parts.flatMap((p) => p["id"])).toEqual(id);
      for (const part of parts) {
        expect(part["name"]).toBe("x");
        if ((part["id"] as string[]).length > 1) expect(encodeQuery(part).length).toBeLessThanOrEqual(6_000);
      }
    }),
    { numRuns: 50 },
  );
});
