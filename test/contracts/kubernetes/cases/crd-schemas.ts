import { expect } from "vitest";
import type { CaseGroup, ContractCase, Json } from "../interface.ts";
import { definition, DEFINITIONS } from "./custom-resource.ts";
import { causesOf } from "./shorthands.ts";

const string = { type: "string" };
const integer = { type: "integer" };
const object = (properties: Json, more: Json = {}): Json => ({ type: "object", properties, ...more });
const list = (items: Json, more: Json = {}): Json => ({ type: "array", items, ...more });
const spec = (schema: Json): Json => object({ spec: schema });
const rules = (schema: Json, ...given: Json[]): Json => ({ ...schema, "x-kubernetes-validations": given });

const ROOT = "spec.validation.openAPIV3Schema";
const SPEC = `${ROOT}.properties[spec]`;
const RULE = `${SPEC}.x-kubernetes-validations[0]`;

/** What a schema is, the schema, and the causes that its CRD is refused with. */
const SCHEMAS: readonly (readonly [string, Json, readonly string[]])[] = [
  [
    "without a type at the root",
    { properties: { spec: string } },
    [`${ROOT}.type: Required value: must not be empty at the root`],
  ],
  ["that is a list at the root", list(string), [`${ROOT}.type: Invalid value: "array": must be object at the root`]],
  [
    "nullable at the root",
    object({}, { nullable: true }),
    [`${ROOT}.nullable: Forbidden: nullable cannot be true at the root`],
  ],
  [
    "with additionalProperties at the root",
    { type: "object", additionalProperties: string },
    [`${ROOT}.additionalProperties: Forbidden: must not be used at the root`],
  ],
  [
    "of items without a type",
    spec({ type: "array", items: {} }),
    [`${SPEC}.items.type: Required value: must not be empty for specified array items`],
  ],
  [
    "of a type that there is not",
    spec({ type: "text" }),
    [
      `${SPEC}.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"`,
    ],
  ],
  [
    "that is int-or-string and keeps unknown fields",
    spec({ "x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true }),
    [
      `${SPEC}.x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true`,
    ],
  ],
  [
    "of an embedded object that is a string",
    spec({ type: "string", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true }),
    [`${SPEC}.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true`],
  ],
  [
    "of an embedded object without properties",
    spec({ type: "object", "x-kubernetes-embedded-resource": true }),
    [
      `${SPEC}.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
    ],
  ],
  [
    "whose metadata says more than names",
    object({ metadata: object({ labels: { type: "object", additionalProperties: string } }) }),
    [
      `${ROOT}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
    ],
  ],
  [
    "whose kind is a number",
    object({ kind: integer }),
    [`${ROOT}.properties[kind].type: Invalid value: "integer": must be string`],
  ],
  [
    "with a type in a junctor",
    spec({ ...string, anyOf: [{ type: "string" }] }),
    [`${SPEC}.anyOf[0].type: Forbidden: must be empty to be structural`],
  ],
  [
    "with a default in a junctor",
    spec({ ...string, allOf: [{ default: "a" }] }),
    [`${SPEC}.allOf[0].default: Forbidden: must be undefined to be structural`],
  ],
  [
    "with a description in a junctor",
    spec({ ...string, not: { description: "a" } }),
    [`${SPEC}.not.description: Forbidden: must be empty to be structural`],
  ],
  [
    "with rules in a junctor",
    spec({ ...string, oneOf: [rules({}, { rule: "true" })] }),
    [`${SPEC}.oneOf[0].x-kubernetes-validations: Forbidden: must be empty to be structural`],
  ],
  [
    "judging a field that it does not have",
    object({ a: string }, { anyOf: [{ properties: { b: { minLength: 1 } } }] }),
    [`${ROOT}.properties[b]: Required value: because it is defined in ${ROOT}.anyOf[0].properties[b]`],
  ],
  [
    "with a pattern that is none",
    spec({ ...string, pattern: "a(b" }),
    [
      `${SPEC}.pattern: Invalid value: "a(b": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`a(b\``,
    ],
  ],
  [
    "with unique items",
    spec(list(string, { uniqueItems: true })),
    [
      `${SPEC}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
    ],
  ],
  [
    "with properties and additionalProperties",
    spec(object({ a: string }, { additionalProperties: string })),
    [`${SPEC}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
  ],
  ["that refers to another", spec({ ...string, $ref: "#/a" }), [`${SPEC}.$ref: Forbidden: $ref is not supported`]],
  [
    "that drops unknown fields by name",
    spec({ type: "object", "x-kubernetes-preserve-unknown-fields": false }),
    [`${SPEC}.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`],
  ],
  [
    "with a map type on a string",
    spec({ ...string, "x-kubernetes-map-type": "atomic" }),
    [`${SPEC}.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified`],
  ],
  [
    "with a map type that there is not",
    spec(object({}, { "x-kubernetes-map-type": "fuzzy" })),
    [`${SPEC}.x-kubernetes-map-type: Unsupported value: "fuzzy": supported values: "atomic", "granular"`],
  ],
  [
    "with a list type on a string",
    spec({ ...string, "x-kubernetes-list-type": "set" }),
    [`${SPEC}.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified`],
  ],
  [
    "with a list type that there is not",
    spec(list(string, { "x-kubernetes-list-type": "bag" })),
    [`${SPEC}.x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"`],
  ],
  [
    "with keys of a list that is no map",
    spec(list(object({ a: string }), { "x-kubernetes-list-map-keys": ["a"] })),
    [`${SPEC}.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty`],
  ],
  [
    "with a map without keys",
    spec(list(object({ a: string }), { "x-kubernetes-list-type": "map" })),
    [`${SPEC}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`],
  ],
  [
    "with a map of strings",
    spec(list(string, { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] })),
    [`${SPEC}.items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map`],
  ],
  [
    "with a map by what items do not have",
    spec(
      list(object({ a: string }, { required: ["a"] }), {
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["b"],
      }),
    ),
    [`${SPEC}.x-kubernetes-list-map-keys: Invalid value: ["b"]: entries must all be names of item properties`],
  ],
  [
    "with a key named twice",
    spec(
      list(object({ a: string }, { required: ["a"] }), {
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["a", "a"],
      }),
    ),
    [`${SPEC}.x-kubernetes-list-map-keys: Invalid value: ["a","a"]: must not contain duplicate entries`],
  ],
  [
    "with a key that may be missing",
    spec(list(object({ a: string }), { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] })),
    [
      `${SPEC}.items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
    ],
  ],
  [
    "with a key that may be null",
    spec(
      list(object({ a: { ...string, nullable: true } }, { required: ["a"] }), {
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["a"],
      }),
    ),
    [
      `${SPEC}.items.properties[a].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable`,
    ],
  ],
  [
    "with a key that is a list",
    spec(
      list(object({ a: list(string) }, { required: ["a"] }), {
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["a"],
      }),
    ),
    [
      `${SPEC}.items.properties[a].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map`,
    ],
  ],
  [
    "with a set of nulls",
    spec(list({ ...string, nullable: true }, { "x-kubernetes-list-type": "set" })),
    [`${SPEC}.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set`],
  ],
  [
    "with a set of objects that are not atomic",
    spec(list(object({ a: string }), { "x-kubernetes-list-type": "set" })),
    [
      `${SPEC}.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`,
    ],
  ],
  [
    "with a default for its metadata",
    object({ metadata: { type: "object", default: {} } }),
    [`${ROOT}.properties[metadata].default: Forbidden: must not be set in top-level metadata`],
  ],
  [
    "with a default of another type",
    spec({ ...string, default: 1 }),
    [`${SPEC}.default: Invalid value: "integer":  in body must be of type string: "integer"`],
  ],
  [
    "with a default that has unknown fields",
    spec(object({ a: string }, { default: { b: 1 } })),
    [`${SPEC}.default: Invalid value: {"b":1}: must not have unknown fields`],
  ],
  [
    "with a default that its rule refuses",
    spec(rules({ ...integer, default: 1 }, { rule: "self > 1" })),
    [`${SPEC}.default: Invalid value: "integer": failed rule: self > 1`],
  ],
  [
    "with a rule that says nothing",
    spec(rules(object({}), { rule: " " })),
    [`${RULE}.rule: Required value: rule is not specified`],
  ],
  [
    "with a rule over two lines without a message",
    spec(rules(object({}), { rule: "true\n&& true" })),
    [`${RULE}.message: Required value: message must be specified if rule contains line breaks`],
  ],
  [
    "with a rule's message over two lines",
    spec(rules(object({}), { rule: "true", message: "a\nb" })),
    [`${RULE}.message: Invalid value: "a\\nb": must not contain line breaks`],
  ],
  [
    "with a rule's message of blanks",
    spec(rules(object({}), { rule: "true", message: "  " })),
    [`${RULE}.message: Invalid value: "  ": must be non-empty if specified`],
  ],
  [
    "with a rule's reason that there is not",
    spec(rules(object({}), { rule: "true", reason: "Why" })),
    [
      `${RULE}.reason: Unsupported value: "Why": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
    ],
  ],
  [
    "with a rule about a path that leads nowhere",
    spec(rules(object({ a: string }), { rule: "true", fieldPath: ".b" })),
    [`${RULE}.fieldPath: Invalid value: ".b": must be a valid path`],
  ],
];

/** Schemas that seem odd and are accepted. */
const SOUND: readonly (readonly [string, Json])[] = [
  ["that takes no other properties", spec({ type: "object", additionalProperties: false })],
  [
    "that judges, below the root, a field it does not have",
    spec(object({ a: string }, { anyOf: [{ properties: { b: { minLength: 1 } } }] })),
  ],
  [
    "with int-or-string in a junctor",
    spec({ "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] }),
  ],
  [
    "with names escaped in rules",
    spec(
      rules(object({ namespace: string, "a-b": integer }), { rule: "self.__namespace__ != '' && self.a__dash__b > 0" }),
    ),
  ],
  ["with a rule about the object's name", rules(object({ spec: string }), { rule: "self.metadata.name != 'a'" })],
];

export const crdSchemas: CaseGroup = {
  title: "schemas of CRDs",
  cases: [
    ...SCHEMAS.map(([what, schema, causes]): ContractCase => ({
      name: `a CRD schema ${what} is refused`,
      async run({ api }) {
        const answer = await api.post(DEFINITIONS, definition("schemas", "Schema", withSchema(schema)));
        expect({ code: answer.code, causes: causesOf(answer) }).toEqual({ code: 422, causes });
      },
    })),
    ...SOUND.map(([what, schema]): ContractCase => ({
      name: `a CRD schema ${what} is accepted`,
      async run({ api, unique }) {
        const group = `${unique("g")}.example.com`;
        const answer = await api.post(DEFINITIONS, definition("schemas", "Schema", { group, ...withSchema(schema) }));
        expect({ code: answer.code, message: answer.body["message"] }).toEqual({ code: 201, message: undefined });
      },
    })),
  ],
};

function withSchema(openAPIV3Schema: Json): Json {
  return { versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }] };
}
