import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { inspect } from "node:util";
import type { Reporter, TestCase, TestModule } from "vitest/node";

const LONGEST_MESSAGE = 300;

/** One line of a message: what is too long, or is a tab, would not be one field of a table. */
const oneLine = (message: string | undefined): string =>
  (message ?? "").replaceAll(/\s+/g, " ").slice(0, LONGEST_MESSAGE);

/** The runner hands errors over as records, some of them without a prototype, which `String` cannot show. */
function said(error: unknown): string {
  const message = typeof error === "object" && error !== null && "message" in error ? error.message : undefined;
  return typeof message === "string" ? message : inspect(error);
}

/**
 * "failed" or "unsteady" (passed when it was tried again), the test's file, its name and what it said, divided by tabs.
 */
function finding(test: TestCase): string[] {
  const { state, errors } = test.result();
  const unsteady = state === "passed" && test.diagnostic()?.flaky === true;
  if (state !== "failed" && !unsteady) return [];
  const fields = [unsteady ? "unsteady" : "failed", relative(".", test.module.moduleId), test.fullName];
  return [[...fields, oneLine(errors?.[0]?.message)].join("\t")];
}

/**
 * Prints, after everything else, the one line that summarises a run: "N passed, N failed, N skipped". Into the file
 * that CAUSEWAY_TEST_FINDINGS names it writes a line for each test that failed, and for each that only passed when it
 * was tried again.
 */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0 };
    const findings = errors.map((error) => ["failed", "", "outside of tests", oneLine(said(error))].join("\t"));
    for (const module of modules) {
      let tests = 0;
      for (const test of module.children.allTests()) {
        tests += 1;
        const state = test.result().state;
        if (state === "passed" || state === "failed" || state === "skipped") count[state] += 1;
        findings.push(...finding(test));
      }
      if (module.state() !== "failed") continue;
      if (tests === 0) count.failed += 1;
      const path = relative(".", module.moduleId);
      for (const error of module.errors())
        findings.push(["failed", path, "the file", oneLine(error.message)].join("\t"));
    }
    const file = process.env["CAUSEWAY_TEST_FINDINGS"];
    if (file !== undefined) writeFileSync(file, findings.map((line) => `${line}\n`).join(""));
    const line = `${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`;
    process.on("exit", () => console.log(line));
  }
}
