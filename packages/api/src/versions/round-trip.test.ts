import fc from "fast-check";
import type { KubeObject } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { allKinds, convertObject, toCustomResourceDefinition } from "../index.ts";
import { unknownFields } from "../schema/conformity.ts";
import type { JsonSchema } from "../schema/crd.ts";
import { equal, isJson, type Json } from "../lenses/json.ts";
import { says } from "../lenses/says.ts";
import { arbitrary } from "./testing/arbitrary.ts";

/** Rounds of each property; the full form is 1,000. */
const numRuns = Number(process.env["CAUSEWAY_CONVERSION_RUNS"] ?? 10);

const several = [...allKinds].filter(({ versions }) => versions.length > 0);
const pairs = several.flatMap((kind) =>
  kind.versions.map((version) => [kind.kind, version.name, { kind, version }] as const),
);

describe.each(pairs)("%s at %s", (_, __, { kind, version }) => {
  const crd = toCustomResourceDefinition(kind);
  const schemaOf = (name: string): JsonSchema =>
    crd.spec.versions.find((one) => one.name === name)?.schema.openAPIV3Schema ?? {};
  const objects = (name: string): fc.Arbitrary<KubeObject> => {
    const { spec, status } = schemaOf(name)["properties"] as Record<string, JsonSchema>;
    return fc
      .record({
        spec: arbitrary(spec ?? {}),
        ...(status ? { status: fc.option(arbitrary(status), { nil: undefined }) } : {}),
      })
      .map((parts) => ({
        apiVersion: `${kind.group}/${name}`,
        kind: kind.kind,
        metadata: { name: "a", namespace: "default", annotations: { keep: "me" } },
        ...parts,
      }));
  };
  const there = (object: KubeObject, name: string) => convertObject([kind], object, `${kind.group}/${name}`);
  const parts = (object: KubeObject): Json => {
    const { spec, status } = object as KubeObject & Json;
    return { spec, ...(status === undefined ? {} : { status }) };
  };

  test("shows a stored object and gets the same object back", () => {
    fc.assert(
      fc.property(objects(kind.version), (object) => {
        const shown = there(object, version.name);
        expect(unknownFields(schemaOf(version.name), shown).filter((path) => !path.startsWith(".metadata"))).toEqual(
          [],
        );
        const back = there(shown, kind.version);
        expect(equal(parts(back), parts(object)), JSON.stringify([object, shown, back])).toBe(true);
      }),
      { numRuns },
    );
  });

  test("stores an object and shows all that was written, and only names that were implied in addition", () => {
    fc.assert(
      fc.property(objects(version.name), (object) => {
        const stored = there(object, kind.version);
        expect(unknownFields(schemaOf(kind.version), stored).filter((path) => !path.startsWith(".metadata"))).toEqual(
          [],
        );
        const shown = there(stored, version.name);
        expect(says(parts(shown), parts(object)), JSON.stringify([object, stored, shown])).toBe(true);
        expect(equal(parts(there(shown, kind.version)), parts(stored))).toBe(true);
        expect(shown.metadata.annotations).toMatchObject({ keep: "me" });
      }),
      { numRuns },
    );
  });

  test("does not change what it is given", () => {
    fc.assert(
      fc.property(objects(version.name), (object) => {
        const before = structuredClone(object);
        there(object, kind.version);
        expect(isJson(object) && object).toEqual(before);
      }),
      { numRuns: 5 },
    );
  });
});
