import { expect } from "vitest";
import type { CaseGroup, Json } from "../interface.ts";
import { definition, DEFINITIONS } from "./custom-resource.ts";
import { at, causesOf, made } from "./shorthands.ts";

const object = (properties: Json, more: Json = {}): Json => ({ type: "object", properties, ...more });
const SPEC = "spec.validation.openAPIV3Schema.properties[spec]";
const rules = (...given: string[]): Json => ({ "x-kubernetes-validations": given.map((rule) => ({ rule })) });

/**
 * A schema of the spec, and the causes that its CRD is refused with, each up to where it is shown in the
 * expression.
 */
const SCHEMAS: readonly (readonly [string, Json, ...string[]])[] = [
  [
    "a default whose rule does not compile",
    object({ a: { type: "string" } }, { default: {}, ...rules("has(self.b)") }),
    `${SPEC}.default: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:4: undefined field 'b'`,
  ],
  [
    "a rule about what has no type",
    object({ a: { type: "array", items: { "x-kubernetes-preserve-unknown-fields": true }, ...rules("self == self") } }),
    `${SPEC}.properties[a].x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations`,
  ],
  [
    "oldSelf in an atomic map",
    object({ a: { type: "string", ...rules("self == oldSelf") } }, { "x-kubernetes-map-type": "atomic" }),
  ],
];

/** A change of a good CRD's spec, and what it is refused with. */
const CHANGES: readonly (readonly [string, (spec: Json) => void, ...string[]])[] = [
  [
    "unknown fields kept, with defaults",
    (spec) => (spec["preserveUnknownFields"] = true),
    "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    "spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema",
  ],
  [
    "a short name that is none",
    (spec) => ((spec["names"] as Json)["shortNames"] = ["a b"]),
    "spec.names.shortNames[0]: Invalid value: \"a b\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
  ],
];

function firstLines(causes: readonly string[]): string[] {
  return causes.map((cause) => cause.split("\n")[0] ?? "").toSorted();
}

export const readCrds: CaseGroup = {
  title: "CRDs as they are read",
  cases: [
    {
      name: "defaults of a CRD's names and conversion belong to its creator, unknown fields are warned of, empty lists are dropped",
      async run(c) {
        const group = `${c.unique("read")}.example.com`;
        const manifest = definition("reads", "Read", { group });
        const [version] = manifest.spec["versions"] as Json[];
        Object.assign(version ?? {}, {
          selectableFields: [],
          additionalPrinterColumns: [],
          subresources: { status: { a: 1 } },
        });
        const answer = await c.api.post(DEFINITIONS, manifest, { query: { dryRun: "All" } });
        expect(answer.headers["warning"]).toBe('299 - "unknown field \\"spec.versions[0].subresources.status.a\\""');
        const body = await made(Promise.resolve(answer));
        expect(at(body, "metadata", "managedFields", 0, "fieldsV1")).toEqual({
          "f:spec": {
            "f:conversion": { ".": {}, "f:strategy": {} },
            "f:group": {},
            "f:names": { "f:kind": {}, "f:listKind": {}, "f:plural": {}, "f:singular": {} },
            "f:scope": {},
            "f:versions": {},
          },
        });
        const kept = at(body, "spec", "versions", 0) as Json;
        expect(Object.keys(kept).toSorted()).toEqual(["name", "schema", "served", "storage", "subresources"]);
        expect(kept["subresources"]).toEqual({ status: {} });
      },
    },
    {
      name: "schemas whose rules or defaults cannot be judged are refused in words of their own",
      async run(c) {
        for (const [what, spec, ...causes] of SCHEMAS) {
          const schema = { openAPIV3Schema: object({ spec }) };
          const versions = [{ name: "v1", served: true, storage: true, schema }];
          const manifest = definition("reads", "Read", { group: `${c.unique("read")}.example.com`, versions });
          const answer = await c.api.post(DEFINITIONS, manifest, { query: { dryRun: "All" } });
          const found = answer.code === 201 ? [] : firstLines(causesOf(answer));
          expect({ what, found }).toEqual({ what, found: causes.toSorted() });
        }
      },
    },
    {
      name: "a CRD with a fault outside its schemas is rejected with the causes of that fault",
      async run(c) {
        for (const [what, change, ...causes] of CHANGES) {
          const manifest = definition("reads", "Read", { group: `${c.unique("read")}.example.com` });
          change(manifest.spec);
          const answer = await c.api.post(DEFINITIONS, manifest, { query: { dryRun: "All" } });
          expect({ what, found: firstLines(causesOf(answer)) }).toEqual({ what, found: causes.toSorted() });
        }
      },
    },
  ],
};
