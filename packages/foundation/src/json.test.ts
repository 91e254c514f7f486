import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalJson } from "./json.ts";

it("canonical JSON is JSON, and the same whatever the order of keys", () => {
  expect(canonicalJson({ b: [{ y: 1, x: undefined }], a: "ä", "10": null, "9": true })).toBe(
    '{"10":null,"9":true,"a":"ä","b":[{"y":1}]}',
  );
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const turned = Object.fromEntries(Object.entries(value).toReversed());
      expect(canonicalJson(turned)).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
