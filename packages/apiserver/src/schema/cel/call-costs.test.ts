import { expect, test } from "vitest";
import { compileValueRules } from "../value-rules.ts";

const most = 10_000_000;

/** What a rule on one text costs; at first each step is counted twice, where the library finds out what it does. */
function spent(rule: string, value = "2001:db8::1"): number {
  const schema = { type: "string", maxLength: 40, "x-kubernetes-validations": [{ rule: `${rule} || true` }] };
  const check = compileValueRules(schema);
  const once = () => {
    const budget = { left: most };
    expect(check({ value }, { path: "v", budget })).toEqual([]);
    return most - budget.left;
  };
  once();
  return once();
}

test.each([
  ["ip(self).isLoopback()", 60],
  ["cidr('2001:db8::/32').containsIP(self)", 60],
  ["int('5') == 4", 25],
  ["quantity('1') == quantity('2')", 20],
  ["duration('1s') < duration('2s')", 20],
  ["semver('1.2.3').major() == 1", 10],
  ["url('https://a.b/c').getHost() == ''", 25],
  ["self.findAll('d').size() > 5", 30],
  ["self.matches('^z+$')", 4],
  ["timestamp('2020-01-01T00:00:00Z').getHours('Europe/Berlin') == 1", 410],
])("a call of %s costs what it takes", (rule, cost) => {
  expect(spent(rule)).toBeGreaterThanOrEqual(cost);
  expect(spent(rule)).toBeLessThan(cost + 30);
});

test("a time without a zone costs little", () =>
  expect(spent("timestamp('2020-01-01T00:00:00Z').getHours() == 1")).toBeLessThan(30));

test("calls that take long end the budget of one rule early", () => {
  const items = { type: "array", maxItems: 5_000, items: { type: "string", maxLength: 3 } };
  const rule = "self.all(a, timestamp('2020-01-01T00:00:00Z').getHours('Europe/Berlin') < 24)";
  const check = compileValueRules({ ...items, "x-kubernetes-validations": [{ rule }] });
  const of = (count: number) =>
    check({ value: Array.from({ length: count }, () => "a") }, { path: "v", budget: { left: most } });
  expect(of(1_000)).toEqual([]);
  expect(of(5_000)).toEqual([expect.stringContaining("actual cost limit exceeded")]);
});
