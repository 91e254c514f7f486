/** What deploy/monitoring says, next to the metrics that there are and to the cases of its alerts. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { registered, unknownIn } from "./metric-names.ts";

const root = resolve(import.meta.dirname, "../..");
const monitoring = join(root, "deploy/monitoring");

interface Rules {
  readonly spec: { readonly groups: readonly { readonly rules: readonly { alert: string; expr: string }[] }[] };
}
interface Cases {
  readonly tests: readonly { alert_rule_test: readonly { alertname: string; exp_alerts: readonly unknown[] }[] }[];
}
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { expr: string }[] }[];
}

export const rules = parse(readFileSync(join(monitoring, "alerts.yaml"), "utf8")) as Rules;
export const casesText = readFileSync(join(import.meta.dirname, "alerts.test.yaml"), "utf8");
const cases = parse(casesText) as Cases;
const dashboard = JSON.parse(readFileSync(join(monitoring, "dashboard.json"), "utf8")) as Dashboard;
const alerts = rules.spec.groups.flatMap((group) => group.rules);

/** Metrics and labels of alerts and dashboard that no program has. */
export function nameProblems(): string[] {
  const known = registered(readFileSync(join(root, "docs/reference/metrics.md"), "utf8"));
  const asked = [
    ...alerts.map(({ alert, expr }) => [alert, expr] as const),
    ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ];
  return asked.flatMap(([where, expr]) => unknownIn(expr, known).map((name) => `${where}: nothing has ${name}`));
}

/** Alerts that never fire in a case. */
export function caseProblems(): string[] {
  const fired = new Set(
    cases.tests.flatMap((each) =>
      each.alert_rule_test.filter(({ exp_alerts: e }) => e.length > 0).map((t) => t.alertname),
    ),
  );
  return alerts.filter(({ alert }) => !fired.has(alert)).map(({ alert }) => `${alert}: no case in which it fires`);
}
