/** What `.ci/run` makes of what its steps say, with an npm that only talks. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, expect, test } from "vitest";

const SCRIPT = resolve(import.meta.dirname, "../.ci/run");
/** The steps; each counts as one where its command counts no tests. Without a commit every share of them runs. */
const STEPS = [...readFileSync(SCRIPT, "utf8").matchAll(/^(?!#|step\(\)).*\bstep "/gm)].length;
const dirs: string[] = [];
afterEach(() => dirs.splice(0).forEach((dir) => rmSync(dir, { recursive: true })));

/** Runs it with an npm whose answers, by its arguments, are these lines of shell; all others just pass. */
function ci(answers: Readonly<Record<string, string>>): { code: number | null; lines: string[] } {
  const dir = mkdtempSync(join(tmpdir(), "causeway-ci-"));
  dirs.push(dir);
  mkdirSync(join(dir, ".ci"));
  mkdirSync(join(dir, "bin"));
  copyFileSync(SCRIPT, join(dir, ".ci/run"));
  const cases = Object.entries(answers).map(([args, lines]) => `"${args}") ${lines};;`);
  const npm = ["#!/bin/bash", 'findings=$CAUSEWAY_TEST_FINDINGS; echo "npm $*"', 'case "$*" in', ...cases, "esac", ""];
  writeFileSync(join(dir, "bin/npm"), npm.join("\n"), { mode: 0o755 });
  const env = { ...process.env, PATH: `${join(dir, "bin")}:${process.env["PATH"]}`, TMPDIR: dir };
  const run = spawnSync("bash", [join(dir, ".ci/run")], { env, encoding: "utf8" });
  return { code: run.status, lines: run.stdout.trimEnd().split("\n") };
}

const closing = (line: string, code = 0) => `echo "${line}"; exit ${code}`;
const finding = (state: string, file: string) => `printf '${state}\\t${file}\\ta test\\tboom\\n' >>"$findings"`;

test("the sum of what passed counts tests where a suite counts them, and a step as one elsewhere", () => {
  const { code, lines } = ci({ test: closing("10 passed, 0 failed, 2 skipped") });
  expect(lines.at(-1)).toBe(`${STEPS + 9} passed, 0 failed, 2 skipped`);
  expect(code).toBe(0);
});

test("files that fail run once more; those that then pass are reported as failed at first", () => {
  const failing = `${finding("failed", "a.test.ts")}; ${finding("failed", "a.test.ts")}`;
  const { code, lines } = ci({
    test: `${failing}; ${closing("10 passed, 2 failed, 2 skipped", 1)}`,
    "test -- a.test.ts": closing("3 passed, 0 failed, 0 skipped"),
  });
  expect(lines.slice(-3)).toEqual([
    "test: failed at first\ta.test.ts\ta test\tboom",
    "test: failed at first\ta.test.ts\ta test\tboom",
    `${STEPS + 11} passed, 0 failed, 2 skipped`,
  ]);
  expect(code).toBe(0);
});

test("a suite that fails again has failed", () => {
  const failing = `${finding("failed", "a.test.ts")}; ${closing("10 passed, 1 failed, 0 skipped", 1)}`;
  const { code, lines } = ci({ test: failing, "test -- a.test.ts": failing });
  expect(lines.slice(-2)).toEqual([
    "test: FAILED AGAIN\ta.test.ts\ta test\tboom",
    `${STEPS + 9} passed, 1 failed, 0 skipped`,
  ]);
  expect(code).toBe(1);
});

test("a step that ends without a summary of tests runs whole once more, and its last lines are printed", () => {
  const { code, lines } = ci({ "run test:faults": closing("out of memory", 137) });
  expect(lines.filter((line) => line === "npm run test:faults")).toHaveLength(3);
  expect(lines.slice(-4)).toEqual([
    "test faults: failed at first, without a word of tests. Its last lines:",
    "npm run test:faults",
    "out of memory",
    `${STEPS - 1} passed, 1 failed, 0 skipped`,
  ]);
  expect(code).toBe(1);
});

test("a test that passed only when its suite tried it again is reported, and passes", () => {
  const { code, lines } = ci({
    "run test:programs": `${finding("unsteady", "p.test.ts")}; ${closing("5 passed, 0 failed, 0 skipped")}`,
  });
  expect(lines.slice(-2)).toEqual([
    "test programs: unsteady\tp.test.ts\ta test\tboom",
    `${STEPS + 4} passed, 0 failed, 0 skipped`,
  ]);
  expect(code).toBe(0);
});

test.each([
  ["run test:scenarios", 4],
  ["run test:programs", 5],
  ["run test:faults", 3],
  ["run test:openstack", 3],
  ["run test:hostile", 3],
])("`npm %s` runs one of %s shares of its files, by the commit", (command, of) => {
  // Without a commit it is the first.
  expect(ci({ [command]: 'echo "share $CAUSEWAY_SHARE"' }).lines).toContain(`share 1/${of}`);
});
