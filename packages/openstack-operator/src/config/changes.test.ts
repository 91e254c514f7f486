import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changed, changesBetween, type Members } from "./changes.ts";
import { schemaOf, SCHEMA_RELEASES } from "./schema.ts";

const { members } = fc.letrec<{ members: Members }>((tie) => ({
  members: fc.dictionary(
    fc.constantFrom("a", "b", "c", "d"),
    fc.oneof({ maxDepth: 3 }, fc.constantFrom("s", "i", "b!"), tie("members")) as fc.Arbitrary<Members | string>,
  ),
}));

describe("changes of a schema", () => {
  test("make the later one of the earlier one, and nothing of two that are the same", () => {
    fc.assert(
      fc.property(members, members, (from, to) => {
        expect(changed(from, changesBetween(from, to))).toEqual(to);
        expect(changesBetween(from, from)).toEqual({});
      }),
    );
  });
});

describe("the schema of each release", () => {
  test.each(SCHEMA_RELEASES)("%s has every service with its own version, and many options", (release) => {
    const schema = schemaOf(release as "2025.1");
    expect(schema?.release).toBe(release);
    expect(Object.keys(schema?.services ?? {}).toSorted()).toEqual(
      Object.keys(schemaOf("2022.2")?.services ?? {}).toSorted(),
    );
    const packages = Object.entries(schema?.packages ?? {});
    const earlier = SCHEMA_RELEASES[SCHEMA_RELEASES.indexOf(release) - 1];
    // Every release of a service raises the first number of its version by one.
    const major = (version = "") => Number(version.split(".")[0]);
    for (const [name, version] of packages)
      if (earlier !== undefined)
        expect(major(version), name).toBe(major(schemaOf(earlier as "2025.1")?.packages[name]) + 1);
    for (const [name, { sections } = { sections: {} }] of Object.entries(schema?.services ?? {}))
      expect(Object.values(sections).flatMap((each) => Object.keys(each ?? {})).length, name).toBeGreaterThan(20);
  });
});
