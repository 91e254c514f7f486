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

/** CEL rules: what is wrong, the schema of spec, the rule, and the cause of its rejection without the rule itself. */
const RULES: readonly (readonly [string, Json, Json, string])[] = [
  [
    "about a field that is not there",
    object({ a: integer }),
    { rule: "self.nothing == 1" },
    "rule: compilation failed: ERROR: <input>:1:5: undefined field 'nothing'\n | self.nothing == 1\n | ....^",
  ],
  [
    "that asks has() of a field that is not there",
    object({ a: integer }),
    { rule: "has(self.nothing)" },
    "rule: compilation failed: ERROR: <input>:1:4: undefined field 'nothing'\n | has(self.nothing)\n | ...^",
  ],
  [
    "that compares a number with a text",
    object({ a: integer }),
    { rule: "self.a == 'x'" },
    "rule: compilation failed: ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(int, string)'\n | self.a == 'x'\n | .......^",
  ],
  [
    "that adds a text to a number",
    object({ a: integer }),
    { rule: "self.a + 's' == 'x'" },
    "rule: compilation failed: ERROR: <input>:1:8: found no matching overload for '_+_' applied to '(int, string)'\n | self.a + 's' == 'x'\n | .......^",
  ],
  [
    "that calls a function that there is not",
    object({ a: integer }),
    { rule: "nope(self.a)" },
    "rule: compilation failed: ERROR: <input>:1:5: undeclared reference to 'nope' (in container '')\n | nope(self.a)\n | ....^",
  ],
  [
    "that calls a function with the wrong thing",
    object({ a: string }),
    { rule: "self.a.startsWith(1)" },
    "rule: compilation failed: ERROR: <input>:1:18: found no matching overload for 'startsWith' applied to 'string.(int)'\n | self.a.startsWith(1)\n | .................^",
  ],
  [
    "that asks the size of a number",
    object({ a: integer }),
    { rule: "size(self.a) > 1" },
    "rule: compilation failed: ERROR: <input>:1:5: found no matching overload for 'size' applied to '(int)'\n | size(self.a) > 1\n | ....^",
  ],
  [
    "about a variable that there is not",
    object({ a: integer }),
    { rule: "other == 1" },
    "rule: compilation failed: ERROR: <input>:1:1: undeclared reference to 'other' (in container '')\n | other == 1\n | ^",
  ],
  [
    "of a list's items as another type",
    object({ a: list(string) }),
    { rule: "self.a.all(x, x == 1)" },
    "rule: compilation failed: ERROR: <input>:1:17: found no matching overload for '_==_' applied to '(string, int)'\n | self.a.all(x, x == 1)\n | ................^",
  ],
  [
    "that searches for a number among texts",
    object({ a: list(string) }),
    { rule: "1 in self.a" },
    "rule: compilation failed: ERROR: <input>:1:3: found no matching overload for '@in' applied to '(int, list(string))'\n | 1 in self.a\n | ..^",
  ],
  [
    "that is no truth value",
    object({ a: integer }),
    { rule: "self.a" },
    "rule: cel expression must evaluate to a bool",
  ],
  [
    "that negates a number",
    object({ a: integer }),
    { rule: "!self.a" },
    "rule: compilation failed: ERROR: <input>:1:1: found no matching overload for '!_' applied to '(int)'\n | !self.a\n | ^",
  ],
  [
    "whose message is no text",
    object({ a: integer }),
    { rule: "true", messageExpression: "self.a" },
    "messageExpression: messageExpression must evaluate to a string",
  ],
  [
    "whose message does not compile",
    object({ a: integer }),
    { rule: "true", messageExpression: "self.b" },
    "messageExpression: messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b\n | ....^",
  ],
  [
    "that may do without oldSelf and does not ask for it",
    object({ a: integer }),
    { rule: "self.a > 1", optionalOldSelf: true },
    "optionalOldSelf: may not be set if oldSelf is not used in rule",
  ],
  [
    "that walks an unbounded list twice",
    object({ a: list(string) }),
    { rule: "self.a.all(x, self.a.all(y, x == y))" },
    "rule: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
  ],
  [
    "that costs a little too much",
    object({ a: list({ ...string, maxLength: 100 }, { maxItems: 1000 }) }),
    { rule: "self.a.all(x, self.a.exists(y, x == y))" },
    "rule: estimated rule cost exceeds budget by factor of 4.6x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
  ],
  [
    "that matches long texts",
    object({ a: list(string, { maxItems: 10 }) }),
    { rule: "self.a.all(x, x.matches('^[a-z]+[a-z]*[0-9]+$'))" },
    "rule: estimated rule cost exceeds budget by factor of 1.6x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
  ],
];

/**
 * CEL: what, the schema of spec, and a rule that is accepted. Rules of the Gateway API's CRDs are of these
 * kinds.
 */
const labels: Json = { type: "object", additionalProperties: { ...string, maxLength: 10 }, maxProperties: 8 };
const TAKEN: readonly (readonly [string, Json, string])[] = [
  ["that asks has() of a field of an item", object({ a: list(object({ b: string })) }), "has(self.a[0].b)"],
  [
    "that matches the keys of a map, which no schema bounds",
    object({ a: labels }),
    "self.a.all(key, key.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?/)?[A-Za-z0-9]$'))",
  ],
  ["that splits the keys of a map", object({ a: labels }), "self.a.all(key, key.split('/')[0].size() < 253)"],
];

const taken = TAKEN.map(([what, schema, rule]): ContractCase => ({
  name: `a CEL rule of a CRD ${what} is accepted`,
  async run({ api }) {
    const made = definition("schemas", "Schema", withSchema(spec(rules(schema, { rule }))));
    const answer = await api.post(`${DEFINITIONS}?dryRun=All`, made);
    expect({ code: answer.code, heard: answer.code === 201 ? [] : causesOf(answer) }).toEqual({ code: 201, heard: [] });
  },
}));

const refused = RULES.map(([what, schema, rule, cause]): ContractCase => ({
  name: `a CEL rule of a CRD ${what} is refused`,
  async run({ api }) {
    const answer = await api.post(DEFINITIONS, definition("schemas", "Schema", withSchema(spec(rules(schema, rule)))));
    const causes = causesOf(answer).map((c) =>
      c.replace(`${RULE}.`, "").replace(/Invalid value: (\{.*\}|true): |Forbidden: /, ""),
    );
    expect({ code: answer.code, cause: causes[0] }).toEqual({ code: 422, cause });
  },
}));

export const crdRules: CaseGroup = { title: "CEL validation rules of CRDs", cases: [...refused, ...taken] };

function withSchema(openAPIV3Schema: Json): Json {
  return { versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }] };
}
