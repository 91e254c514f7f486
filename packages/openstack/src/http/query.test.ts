import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeQuery, splitQuery } from "./query.ts";

it("the division of a long query does not change a short query", () => {
  expect(splitQuery({ name: "a", id: ["1", "2"] })).toEqual([{ name: "a", id: ["1", "2"] }]);
});

it("never requests all objects when the list of ids is empty", () => {
  expect(splitQuery({ id: [] })).toEqual([]);
});

it("the division of a long query requests every value exactly once in parts, each with the other filters", () => {
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
