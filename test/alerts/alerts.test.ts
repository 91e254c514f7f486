import { expect, test } from "vitest";
import { registered, unknownIn } from "./metric-names.ts";
import { caseProblems, nameProblems } from "./parts.ts";

test("alerts and dashboard name metrics and labels that programs have", () => {
  expect(nameProblems()).toEqual([]);
});

test("each alert has a case in which it fires", () => {
  expect(caseProblems()).toEqual([]);
});

test.each<[string, string, string[]]>([
  ["a known counter by a known label", `sum by (status) (rate(calls_total{status="5.."}[5m])) > 1`, []],
  ["a histogram's buckets", `histogram_quantile(0.99, sum by (le) (rate(seconds_bucket[5m])))`, []],
  ["a metric with a slip", `rate(call_total[5m])`, ["call_total"]],
  ["a label that its metric lacks", `calls_total{code="500"}`, ["label code"]],
])("the check of alert rules finds the names in an expression: %s", (_what, expr, expected) => {
  const page = "| `calls_total` | counter | status | Calls |\n| `seconds` | histogram |  | Time |";
  expect(unknownIn(expr, registered(page))).toEqual(expected);
});
