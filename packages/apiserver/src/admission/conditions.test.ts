import { describe, expect, test } from "vitest";
import type { Json } from "../json/json.ts";
import type { Activation } from "./cel/expressions.ts";
import { Expressions } from "./cel/expressions.ts";
import { compileConditions, judgeConditions } from "./conditions.ts";

const activation = { object: { n: 1n }, meter: { left: 1000 } } as unknown as Activation;
const judged = (conditions: unknown, scope = {}) =>
  judgeConditions(compileConditions(new Expressions(), conditions, scope), () => activation);
const all = (...expressions: readonly string[]): Json[] =>
  expressions.map((expression, i) => ({ name: `c${i}`, expression }));

// The rows are those of apiserver's pkg/admission/plugin/webhook/matchconditions/matcher_test.go.
describe("match conditions", () => {
  const BROKEN = "expression 'object.x == 1' resulted in error: no such key: x";
  const OTHER = "expression 'object.y == 1' resulted in error: no such key: y";
  test.each<[string, unknown, Json]>([
    ["match where there are none", [], { matches: true }],
    ["match where they are absent", undefined, { matches: true }],
    ["match where all are true", all("true", " object.n == 1 "), { matches: true }],
    ["do not match where one is false", all("true", "false"), { matches: false }],
    ["do not match where one is false and others fail", all("object.x == 1", "false"), { matches: false }],
    ["do not match where one is false before others fail", all("false", "object.x == 1"), { matches: false }],
    ["say which one fails", all("true", "object.x == 1"), { matches: false, error: BROKEN }],
    [
      "say which ones fail, each once",
      all("object.x == 1", "object.y == 1", "object.x == 1"),
      { matches: false, error: `[${BROKEN}, ${OTHER}]` },
    ],
    [
      "fail where one does not compile",
      all("1"),
      { matches: false, error: "compilation error: must evaluate to bool but got int" },
    ],
  ])("%s", (_what, conditions, expected) => {
    expect(judged(conditions)).toEqual(expected);
  });

  test("have names, and what their scope has", () => {
    const conditions = compileConditions(new Expressions(), all("params.a == 1"), { params: true });
    expect(conditions.map(({ name, expression: { fault } }) => [name, fault])).toEqual([["c0", undefined]]);
  });
});
