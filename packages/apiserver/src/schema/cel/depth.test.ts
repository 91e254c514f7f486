import { expect, it } from "vitest";
import { growthOf, LINEAR } from "../../testing/growth.ts";
import { type CelNode, isTooDeep, nodesOf } from "./ast.ts";
import { estimateCost } from "./cost.ts";
import { declare, typedEnvironment } from "./declared.ts";
import { compileProblem } from "./problems.ts";
import { compileProgram } from "./program.ts";
import { readNode } from "../node.ts";

const DECLARED = declare(readNode({ type: "object", properties: { i: { type: "integer" } } }), false);
if (!DECLARED) throw new Error("the schema declares nothing");
const environment = typedEnvironment(DECLARED, false);
const chain = (count: number, operator: string, operand: string): string =>
  Array.from({ length: count }, () => operand).join(operator);
const problemOf = (text: string): string | undefined => compileProblem(environment, text);
const TOO_DEEP = "ERROR: <input>:-1:0: max recursion depth exceeded";

it("a chain of operators has as many as cel-go takes", () => {
  for (const operator of [" + ", " * ", " - "]) {
    expect(problemOf(`${chain(250, operator, "1")} == 1`)).toBeUndefined();
    for (const count of [251, 3000]) expect(problemOf(`${chain(count, operator, "1")} == 1`)).toBe(TOO_DEEP);
  }
  expect(problemOf(`${"!".repeat(3000)}true`)).toBe(TOO_DEEP);
});

it("a chain of && or || may be longer, and runs", () => {
  for (const operator of [" && ", " || "]) {
    const text = chain(990, operator, "self.i == 1");
    expect(problemOf(text)).toBeUndefined();
    expect(estimateCost(environment.parse(text).ast, DECLARED)).toBeGreaterThan(0);
    expect(compileProgram(environment, text)({ self: { i: 1n } }, { left: 1e9 })).toBe(true);
    expect(problemOf(chain(4000, operator, "true"))).toBe(TOO_DEEP);
  }
});

it("walking the nodes of an expression takes time linear in its operators, from the top down", () => {
  const parsed = (count: number): CelNode => environment.parse(chain(count, " + ", "1")).ast;
  expect(growthOf(parsed, (ast) => [...nodesOf(ast)].length, 100)).toBeLessThan(LINEAR);
  expect(Array.from(nodesOf(environment.parse("a.b(c) + [d]").ast), (node) => node.op)).toEqual([
    "+",
    "rcall",
    "id",
    "id",
    "list",
    "id",
  ]);
  expect(isTooDeep(parsed(4000))).toBe(true);
});
