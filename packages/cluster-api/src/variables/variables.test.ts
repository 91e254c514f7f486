import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clusterVariables } from "./cluster-variables.ts";
import { definitionProblems, type VariableDefinition } from "./definition.ts";
import { withDefaults, type VariableSchema } from "./schema.ts";
import { valueProblems } from "./validate.ts";

const definition = (name: string, openAPIV3Schema: object, required = false) =>
  ({ name, required, schema: { openAPIV3Schema } }) as VariableDefinition;

describe("a value of a variable", () => {
  test.each<readonly [string, VariableSchema, unknown, readonly RegExp[]]>([
    ["a text", { type: "string" }, "a", []],
    ["a number in place of a text", { type: "string" }, 3, [/must be of type string: "integer"/]],
    ["an integer as a number", { type: "number" }, 3, []],
    ["a fraction as an integer", { type: "integer" }, 3.5, [/must be of type integer/]],
    ["nothing", { type: "string" }, null, [/must be of type string: "null"/]],
    ["an integer or a text", { "x-kubernetes-int-or-string": true }, "25%", []],
    ["a choice", { type: "string", enum: ["a", "b"] }, "c", [/supported values: "a", "b"/]],
    ["a pattern", { type: "string", pattern: "^v[0-9]+$" }, "v1", []],
    ["another pattern", { type: "string", pattern: "^v[0-9]+$" }, "1", [/should match/]],
    ["lengths", { type: "string", minLength: 2, maxLength: 3 }, "é", [/at least 2 chars/]],
    ["limits", { type: "integer", minimum: 1, maximum: 5, exclusiveMaximum: true }, 5, [/should be less than 5/]],
    ["an address", { type: "string", format: "ipv4" }, "1.2.3", [/format ipv4/]],
    ["a range of addresses", { type: "string", format: "cidr" }, "fd00::/129", [/format cidr/]],
    [
      "items",
      { type: "array", items: { type: "string" }, maxItems: 2 },
      ["a", 1],
      [/\[1\]: Invalid value: must be of type string/],
    ],
    ["too many items", { type: "array", items: { type: "string" }, maxItems: 2 }, ["a", "b", "c"], [/at most 2 items/]],
    ["equal items", { type: "array", items: {}, uniqueItems: true }, [{ a: 1 }, { a: 1 }], [/duplicates/]],
    [
      "fields",
      { type: "object", properties: { a: { type: "string" } }, required: ["a", "b"] },
      { a: 1 },
      [/b is required/, /v\.a: .*must be of type string/],
    ],
    ["an unknown field", { type: "object", properties: { a: {} } }, { c: 1 }, [/v\.c: .*not specified/]],
    ["any field", { type: "object", additionalProperties: { type: "integer" } }, { c: "x" }, [/v\.c: /]],
    ["an open object", { type: "object", "x-kubernetes-preserve-unknown-fields": true }, { c: 1 }, []],
    [
      "a field named as a prototype's",
      { type: "object", properties: {} },
      JSON.parse('{"constructor":1}'),
      [/constructor/],
    ],
    ["any of two", { anyOf: [{ type: "string" }, { type: "integer" }] }, true, [/anyOf/]],
    ["one of two", { oneOf: [{ type: "integer" }, { type: "number" }] }, 3, [/oneOf/]],
    ["not one", { not: { enum: [3] } }, 3, [/must not/]],
  ])("is checked by %s", (_, schema, value, expected) => {
    const problems = valueProblems(value, schema, "v");
    expect(problems).toHaveLength(expected.length);
    expected.forEach((pattern, at) => expect(problems[at]).toMatch(pattern));
  });

  test("gets defaults where fields are missing, and keeps what it has", () => {
    const schema: VariableSchema = {
      type: "object",
      properties: {
        name: { type: "string", default: "n" },
        inner: { type: "object", default: {}, properties: { size: { type: "integer", default: 3 } } },
      },
    };
    expect(withDefaults({}, schema)).toEqual({ name: "n", inner: { size: 3 } });
    expect(withDefaults({ name: "own", inner: { size: 0 } }, schema)).toEqual({ name: "own", inner: { size: 0 } });
  });

  test("reports at most ten problems, however many there are", () => {
    const many = Array.from({ length: 10_000 }, () => 1);
    expect(valueProblems(many, { type: "array", items: { type: "string" } }, "v")).toHaveLength(10);
  });

  test("with defaults is with defaults for any value", () => {
    const schema: VariableSchema = {
      type: "object",
      properties: { a: { default: { b: 1 }, properties: { b: { default: 2 }, c: { default: 3 } } } },
      additionalProperties: true,
    };
    fc.assert(
      fc.property(fc.object(), (value) => {
        const once = withDefaults(value, schema);
        expect(withDefaults(once, schema)).toEqual(once);
      }),
      { numRuns: 100 },
    );
  });
});

describe("the variables of a Cluster", () => {
  const definitions = [
    definition("size", { type: "integer", default: 3 }),
    definition("image", { type: "string" }, true),
    definition("identityRef", { type: "object", properties: { name: { type: "string", default: "cloud" } } }),
  ];
  test("get the defaults of their definitions, and no object for the defaults inside one", () => {
    const { values, problems } = clusterVariables([{ name: "image", value: "i" }], definitions);
    expect(values).toEqual([
      { name: "image", value: "i" },
      { name: "size", value: 3 },
    ]);
    expect(problems).toEqual([]);
  });
  test("must be defined and set", () => {
    const { problems } = clusterVariables([{ name: "other", value: 1 }], definitions);
    expect(problems).toEqual([
      'spec.topology.variables[other]: Invalid value: "other": variable is not defined',
      'spec.topology.variables: Required value: required variable "image" must be set',
    ]);
  });
});

describe("the rules of a variable", () => {
  const ports = {
    type: "object",
    properties: { from: { type: "integer" }, to: { type: "integer" } },
    "x-kubernetes-validations": [
      { rule: "self.from <= self.to", message: "from must not be after to", fieldPath: ".from" },
      { rule: "self.to >= oldSelf.to", messageExpression: "'to cannot become less than ' + string(oldSelf.to)" },
    ],
  };
  const named = {
    type: "array",
    maxItems: 9,
    items: { type: "string", maxLength: 9, "x-kubernetes-validations": [{ rule: "self.startsWith('n-')" }] },
  };
  test.each<readonly [string, object, unknown, unknown, readonly RegExp[]]>([
    ["let through what holds", ports, { from: 1, to: 2 }, undefined, []],
    [
      "compare with the old value and its defaults",
      {
        type: "object",
        properties: { a: { type: "integer" }, b: { type: "integer", default: 3 } },
        "x-kubernetes-validations": [{ rule: "self == oldSelf" }],
      },
      { a: 1 },
      { a: 1 },
      [],
    ],
    [
      "name the field",
      ports,
      { from: 3, to: 2 },
      undefined,
      [/variables\[v\]\.value\.from: .*from must not be after to/],
    ],
    ["compare with the value before", ports, { from: 1, to: 2 }, { from: 1, to: 3 }, [/to cannot become less than 3/]],
    ["do not run on a value of another form", ports, { from: "a", to: 2 }, undefined, [/must be of type integer/]],
    ["run inside lists", named, ["n-a", "b"], undefined, [/value\[1\]: .*failed rule: self.startsWith/]],
  ])("%s", (_, schema, value, old, expected) => {
    const before = old === undefined ? [] : [{ name: "v", value: old }];
    const { problems } = clusterVariables([{ name: "v", value }], [definition("v", schema)], { old: before });
    expect(problems).toHaveLength(expected.length);
    expected.forEach((pattern, at) => expect(problems[at]).toMatch(pattern));
  });
  test("share one budget, whose end is a problem", () => {
    const schema = { type: "integer", "x-kubernetes-validations": [{ rule: "[1, 2, 3].all(x, x < self)" }] };
    const verdict = (left: number) => {
      const names = ["a", "b", "c"];
      const values = names.map((name) => ({ name, value: 5 }));
      const definitions = names.map((name) => definition(name, schema));
      return clusterVariables(values, definitions, { budget: { left } }).problems;
    };
    const costOf = () => {
      const budget = { left: 1_000 };
      clusterVariables([{ name: "a", value: 5 }], [definition("a", schema)], { budget });
      return 1_000 - budget.left;
    };
    // The first evaluation finds the functions that later ones use.
    costOf();
    const cost = costOf();
    expect(cost).toBeGreaterThan(3);
    expect(verdict(3 * cost)).toEqual([]);
    expect(verdict(2 * cost + 1)).toEqual([expect.stringContaining("running out of cost budget")]);
    expect(verdict(cost + 1)).toEqual([1, 2].map(() => expect.stringContaining("running out of cost budget")));
  });
});

describe("the definition of a variable", () => {
  test.each<readonly [string, VariableDefinition[], readonly RegExp[]]>([
    ["is accepted", [definition("a", { type: "string", default: "x" })], []],
    ["does not have the reserved name", [definition("builtin", { type: "string" })], [/reserved/]],
    ["has no dot in its name", [definition("a.b", { type: "string" })], [/cannot contain/]],
    ["is the only one of its name", [definition("a", {}), definition("a", {})], [/unique/]],
    [
      "has a default that fits",
      [definition("a", { type: "integer", default: "x" })],
      [/default: Invalid value: "x": must be of type integer/],
    ],
    ["has a pattern of Go", [definition("a", { type: "string", pattern: "(" })], [/pattern: Invalid value/]],
    [
      "has no pattern that repeats without end",
      [definition("a", { type: "string", pattern: "(a{1000}){1000}" })],
      [/too often/],
    ],
    ["has known types", [definition("a", { properties: { b: { type: "text" } } })], [/Unsupported value: "text"/]],
    [
      "has rules that compile",
      [definition("a", { type: "integer", "x-kubernetes-validations": [{ rule: "self > oldSelf" }] })],
      [],
    ],
    [
      "has no rule that does not",
      [definition("a", { type: "integer", "x-kubernetes-validations": [{ rule: "self.b" }] })],
      [/x-kubernetes-validations\[0\]\.rule: Invalid value: .*does not support field selection/s],
    ],
    [
      "has no rule that may cost too much",
      [
        definition("a", {
          type: "array",
          items: { type: "string" },
          "x-kubernetes-validations": [{ rule: "self.all(x, self.all(y, x == y))" }],
        }),
      ],
      [/rule: Forbidden: estimated rule cost exceeds budget/, /estimated rule cost total/, /estimated rule cost total/],
    ],
    [
      "has no rules without a type",
      [definition("a", { "x-kubernetes-validations": [{ rule: "true" }] })],
      [/failed to construct type information/],
    ],
    [
      "has a default that its rules let through",
      [definition("a", { type: "integer", default: 1, "x-kubernetes-validations": [{ rule: "self > 1" }] })],
      [/schema\.openAPIV3Schema\.default: Invalid value: "integer": failed rule: self > 1/],
    ],
  ])("%s", (_, definitions, expected) => {
    const problems = definitionProblems(definitions);
    expect(problems).toHaveLength(expected.length);
    expected.forEach((pattern, at) => expect(problems[at]).toMatch(pattern));
  });
  test("is not deeper than 32 schemas", () => {
    let schema: object = { type: "string" };
    for (let depth = 0; depth < 40; depth++) schema = { type: "array", items: schema };
    expect(definitionProblems([definition("a", schema)])[0]).toMatch(/nested more than 32/);
  });
});
