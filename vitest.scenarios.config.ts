import { defineConfig } from "vitest/config";

/** What needs processes of its own and real time. Its quick cases are in `npm test`, which leaves these files out. */
export const longScenarios = ["test/scenarios/long/**/*.test.ts", "test/contracts/kubernetes/causeway-kubectl.test.ts"];

export default defineConfig({
  test: {
    include: longScenarios,
    pool: "threads",
    isolate: false,
    maxWorkers: 2,
    // A green run never waits so long: how fast the machine is must not decide.
    testTimeout: 600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ["default", "./scripts/closing-line-reporter.ts"],
  },
});
