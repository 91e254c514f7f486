import fc from "fast-check";
import { expect, test } from "vitest";
import { labelValue, zoneOf } from "./zone.ts";

const KEY = "topology.example.com/zone";

test("the zone is the first preferred one, else the first possible one", () => {
  const of = (...zones: string[]) => zones.map((zone) => ({ segments: { [KEY]: zone } }));
  const topology = (preferred: string[], requisite: string[]) =>
    ({ preferred: of(...preferred), requisite: of(...requisite) }) as unknown as Parameters<typeof zoneOf>[0];
  expect(zoneOf(topology(["b", "c"], ["a"]), KEY)).toBe("b");
  expect(zoneOf(topology([], ["", "a"]), KEY)).toBe("a");
  expect(zoneOf(undefined, KEY)).toBeUndefined();
});

test.each([
  ["nova", "nova"],
  ["Zone 1/a", "Zone-1-a"],
  ["_a_", "a"],
  [`${"a".repeat(62)}-b`, "a".repeat(62)],
])("zone %j is label %j", (zone, label) => expect(labelValue(zone)).toBe(label));

test("every zone becomes the value of a label, and a valid value remains as it is", () => {
  const valid = /^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "Z", "0", "-", "_", ".", " ", "/", "é"), maxLength: 80 }),
      (zone) => {
        expect(labelValue(zone)).toMatch(valid);
        if (valid.test(zone)) expect(labelValue(zone)).toBe(zone);
      },
    ),
  );
});
