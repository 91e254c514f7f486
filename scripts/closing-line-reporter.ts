import type { Reporter, TestModule } from "vitest/node";

/** Prints, after everything else, the one line that tells how a run ended: "N passed, N failed, N skipped". */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      let tests = 0;
      for (const test of module.children.allTests()) {
        tests += 1;
        const state = test.result().state;
        if (state === "passed" || state === "failed" || state === "skipped") count[state] += 1;
      }
      if (tests === 0 && module.state() === "failed") count.failed += 1;
    }
    const line = `${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`;
    process.on("exit", () => console.log(line));
  }
}
