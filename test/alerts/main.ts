/**
 * `npm run test:alerts`: the alert rules and the dashboard of deploy/monitoring. Every metric and label they name is
 * one that a program has (docs/reference/metrics.md, which is generated), each alert has a case in which it fires, and
 * promtool runs the cases. Builds promtool with Go at first, from tools/promtool, into the user's cache directory;
 * without Go only that part is skipped.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { buildMissing, cached, pinnedVersion, root } from "../../scripts/kubernetes-programs.ts";
import { caseProblems, casesText, nameProblems, rules } from "./parts.ts";

const MODULE = "github.com/prometheus/prometheus";
const folder = join(root, "tools/promtool");

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
