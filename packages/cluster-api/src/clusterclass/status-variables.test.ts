import { describe, expect, test } from "vitest";
import type { VariableDefinition } from "../variables/definition.ts";
import { classVariables, readDiscovered } from "../variables/class-variables.ts";
import { clusterClass } from "../testing/class-manifests.ts";
import type { Observed } from "./gather.ts";
import { judgeVariables } from "./status-variables.ts";

const variable = (name: string, schema: object, more: Partial<VariableDefinition> = {}): VariableDefinition => ({
  name,
  required: false,
  schema: { openAPIV3Schema: schema },
  ...more,
});
const text = { type: "string" };
const external = (name: string) => ({
  name,
  external: { generatePatchesExtension: "g.ext", discoverVariablesExtension: `${name}.ext` },
});
const found = (patch: string, ...variables: VariableDefinition[]) => ({ patch, handler: `${patch}.ext`, variables });
const observed = (discovered: Observed["discovered"], variables = [variable("own", text)]): Observed => ({
  clusterClass: clusterClass("class", { variables, patches: [external("p"), external("q")] }),
  templates: [],
  discovered,
});

describe("the variables of a class", () => {
  test("are its own and those of its extensions, by name", () => {
    const { problems, variables, again } = judgeVariables(
      observed([found("q", variable("b", text)), found("p", variable("a", text))]),
    );
    expect(problems).toEqual([]);
    expect(variables?.map(({ name, definitions: [first] }) => [name, first?.from])).toEqual([
      ["a", "p"],
      ["b", "q"],
      ["own", "inline"],
    ]);
    expect(again).toBe(600_000);
  });
  test("may be defined alike by several, whatever is false in a schema", () => {
    const listed = { type: "object", properties: { a: text } };
    const same = { ...listed, "x-kubernetes-preserve-unknown-fields": false };
    const { problems, variables } = judgeVariables(
      observed([found("p", variable("own", same))], [variable("own", listed)]),
    );
    expect(problems).toEqual([]);
    expect(variables?.[0]?.definitions.map(({ from }) => from)).toEqual(["inline", "p"]);
  });
  test.each<[string, Observed["discovered"], RegExp]>([
    ["of other schemas", [found("p", variable("own", { type: "integer" }))], /conflicting schemas: own/],
    ["of which one is required", [found("p", variable("own", text, { required: true }))], /conflicting schemas: own/],
    ["with another default", [found("p", variable("own", { ...text, default: "" }))], /conflicting schemas: own/],
    ["that no schema allows", [found("p", variable("a", { type: "paper" }))], /p \(p\.ext\): spec\.variables\[0\]/],
    ["with the name builtin", [found("p", variable("builtin", text))], /reserved variable name/],
    [
      "that an extension did not give",
      [{ patch: "p", handler: "p.ext", problem: 'extension handler "p.ext": no route' }],
      /failed to call DiscoverVariables for patch p: .*"p\.ext": no route/,
    ],
  ])("%s are a problem", (_, discovered, expected) => {
    const { problems } = judgeVariables(observed(discovered));
    expect(problems.join("; ")).toMatch(expected);
  });
  test("of extensions have bounds together, and those that were known remain", () => {
    const many = (prefix: string, length: number, more: object = {}) =>
      Array.from({ length }, (_, at) => variable(`${prefix}${at}`, { ...text, ...more }));
    const both = (...lists: VariableDefinition[][]) =>
      judgeVariables(observed([found("p", ...(lists[0] ?? [])), found("q", ...(lists[1] ?? []))]));
    expect(both(many("a", 500), many("b", 500))).toMatchObject({ problems: [], again: 600_000 });
    const count = both(many("a", 500), many("b", 501));
    expect(count).toMatchObject({ variables: undefined, again: 10_000 });
    expect(count.problems).toEqual([expect.stringMatching(/1000 variables in 262144 bytes, and these define 1001 in/)]);
    const description = "x".repeat(150_000);
    const bytes = both(many("a", 1, { description }), many("b", 1, { description }));
    expect(bytes.problems).toEqual([
      expect.stringMatching(/define 2 in 3\d{5}; the largest are of p: 1 \(150\d{3} bytes/),
    ]);
    expect(bytes.variables).toBeUndefined();
    expect(both(many("a", 1, { description })).problems).toEqual([]);
  });
  test("are discovered again soon after a failure, and keep those that were known", () => {
    const verdict = judgeVariables(observed([{ patch: "p", handler: "p.ext", problem: "no route" }]));
    expect(verdict).toMatchObject({ variables: undefined, again: 10_000 });
  });
  test("of topologies are all that the status lists", () => {
    const definition = variable("a", text);
    const status = { variables: judgeVariables(observed([found("p", definition)])).variables ?? [] };
    expect(classVariables({ ...observed([]).clusterClass, status }).map(({ name, from }) => [name, from])).toEqual([
      ["own", ["inline"]],
      ["a", ["p"]],
    ]);
  });
});

test.each<[unknown, RegExp | string[]]>([
  [undefined, []],
  [[{ name: "a", schema: { openAPIV3Schema: text } }], ["a"]],
  [{}, /no list/],
  [[{}], /variables\[0\] has no name/],
  [[{ name: "a" }], /variable a has no schema/],
  [[{ name: "a", required: "yes", schema: { openAPIV3Schema: text } }], /required of variable a/],
  [Array.from({ length: 1_001 }, () => ({})), /1000 variables at most/],
])("the response %j to DiscoverVariables is read", (variables, expected) => {
  const read = () => readDiscovered({ status: "Success", variables }).map(({ name }) => name);
  if (expected instanceof RegExp) expect(read).toThrow(expected);
  else expect(read()).toEqual(expected);
});
