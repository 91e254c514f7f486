/**
 * `npm run test:alerts`: the alert rules and the dashboard of deploy/monitoring. Every metric and label they name is one that a program has
 * (docs/reference/metrics.md, which is generated), each alert has a case in which it fires, and promtool runs the cases. Builds promtool
 * with Go at first, from tools/promtool, into the user's cache directory; without Go only that part is skipped.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { buildMissing, cached, pinnedVersion, root } from "../../scripts/kubernetes-programs.ts";
import { registered, unknownIn } from "./metric-names.ts";

const MODULE = "github.com/prometheus/prometheus";
const folder = join(root, "tools/promtool");
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

const rules = parse(readFileSync(join(monitoring, "alerts.yaml"), "utf8")) as Rules;
const casesText = readFileSync(join(import.meta.dirname, "alerts.test.yaml"), "utf8");
const cases = parse(casesText) as Cases;
const dashboard = JSON.parse(readFileSync(join(monitoring, "dashboard.json"), "utf8")) as Dashboard;
const alerts = rules.spec.groups.flatMap((group) => group.rules);

function nameProblems(): string[] {
  const known = registered(readFileSync(join(root, "docs/reference/metrics.md"), "utf8"));
  const asked = [
    ...alerts.map(({ alert, expr }) => [alert, expr] as const),
    ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ];
  return asked.flatMap(([where, expr]) => unknownIn(expr, known).map((name) => `${where}: nothing has ${name}`));
}

function caseProblems(): string[] {
  const fired = new Set(
    cases.tests.flatMap((each) =>
      each.alert_rule_test.filter(({ exp_alerts: e }) => e.length > 0).map((t) => t.alertname),
    ),
  );
  return alerts.filter(({ alert }) => !fired.has(alert)).map(({ alert }) => `${alert}: no case in which it fires`);
}

async function promtoolProblems(): Promise<string[] | undefined> {
  const program = { name: "promtool", source: `${MODULE}/cmd/promtool`, flags: "-s -w" };
  const built = await buildMissing([program], folder, cached(`promtool-${pinnedVersion(folder, MODULE)}`));
  if ("reason" in built) {
    console.log(`skipped: no promtool here: ${built.reason}`);
    return undefined;
  }
  const dir = mkdtempSync(join(tmpdir(), "alerts-"));
  try {
    writeFileSync(join(dir, "rules.yaml"), stringify(rules.spec));
    writeFileSync(join(dir, "cases.yaml"), `rule_files: [rules.yaml]\n${casesText}`);
    const steps = [
      ["check", "rules", "--lint=all", "--lint-fatal", "rules.yaml"],
      ["test", "rules", "cases.yaml"],
    ];
    return steps.flatMap((args) => {
      const { status, stdout, stderr } = spawnSync(join(built.dir, "promtool"), args, { cwd: dir, encoding: "utf8" });
      return status === 0 ? [] : [`promtool ${args[0] ?? ""}: ${stdout}${stderr}`];
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const parts = [
  ["names of metrics and labels", nameProblems()],
  ["a case for each alert", caseProblems()],
  ["promtool", await promtoolProblems()],
] as const;
for (const [what, problems] of parts) {
  const outcome = problems === undefined ? "skipped" : problems.length === 0 ? "passed" : "failed";
  console.log([`${what}: ${outcome}`, ...(problems ?? [])].join("\n  "));
}
const failed = parts.filter(([, problems]) => problems !== undefined && problems.length > 0).length;
const skipped = parts.filter(([, problems]) => problems === undefined).length;
console.log(`${parts.length - failed - skipped} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed > 0 ? 1 : 0;
