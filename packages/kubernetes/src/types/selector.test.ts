import { expect, test } from "vitest";
import { isEmptySelector, matchesSelector, selectorText } from "./selector.ts";

const labels = { app: "web", tier: "front" };
const expression = (operator: string, values?: string[], key = "app") => ({
  matchExpressions: [{ key, operator, ...(values ? { values } : {}) }],
});

test.each([
  [{}, true],
  [{ matchLabels: { app: "web" } }, true],
  [{ matchLabels: { app: "web", tier: "back" } }, false],
  [expression("In", ["web", "api"]), true],
  [expression("In", ["api"]), false],
  [expression("In", ["web"], "absent"), false],
  [expression("NotIn", ["web"]), false],
  [expression("NotIn", ["web"], "absent"), true],
  [expression("Exists"), true],
  [expression("DoesNotExist"), false],
  [expression("DoesNotExist", undefined, "absent"), true],
  [expression("Near"), false],
  [{ matchLabels: { app: "web" }, ...expression("NotIn", ["front"], "tier") }, false],
])("the selector %j matches app=web,tier=front: %s", (selector, matches) =>
  expect(matchesSelector(selector, labels)).toBe(matches),
);

test("a selector without requirements is empty", () => {
  const empty = [undefined, {}, { matchLabels: {}, matchExpressions: [] }].map(isEmptySelector);
  expect([...empty, isEmptySelector({ matchLabels: { a: "b" } }), isEmptySelector(expression("Exists"))]).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

test("a selector is written as kubectl writes it", () => {
  const matchExpressions = [
    { key: "b", operator: "In", values: ["2", "1"] },
    { key: "c", operator: "DoesNotExist" },
    { key: "d", operator: "Exists" },
    { key: "e", operator: "NotIn", values: ["x"] },
  ];
  expect(selectorText({ matchLabels: { a: "1" }, matchExpressions })).toBe("!c,a=1,b in (1,2),d,e notin (x)");
});
