import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkControllerScenarios } from "./controller-scenarios.ts";

const root = mkdtempSync(join(tmpdir(), "controller-scenarios-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function addController(name: string, ...tests: readonly string[]): void {
  const folder = join(root, "packages/a/src", name);
  mkdirSync(folder, { recursive: true });
  for (const file of ["controller.ts", "plan.ts", ...tests]) writeFileSync(join(folder, file), "");
}

test("the check of scenarios refuses a controller that no scenario runs, and rows that do not hold", () => {
  addController("own", "own.test.ts");
  addController("planned", "plan.test.ts");
  addController("elsewhere", "plan.test.ts");
  mkdirSync(join(root, "test"));
  writeFileSync(join(root, "test/all.test.ts"), 'w.create("Elsewhere");');
  const row = ["test/all.test.ts", "Elsewhere"] as const;
  expect(checkControllerScenarios(root, { "a/src/elsewhere": row })).toEqual([
    "packages/a/src/planned: write a scenario that runs it, or name one in scripts/controller-scenarios.ts",
  ]);
  const wrong = ["test/all.test.ts", "Planned"] as const;
  const rows = { "a/src/elsewhere": row, "a/src/planned": wrong, "a/src/own": row, "a/src/gone": row };
  expect(checkControllerScenarios(root, rows)).toEqual([
    'scripts/controller-scenarios.ts: test/all.test.ts has no "Planned" for a/src/planned',
    "scripts/controller-scenarios.ts: a/src/own has a scenario of its own",
    "scripts/controller-scenarios.ts: a/src/gone is no controller",
  ]);
});
