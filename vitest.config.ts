import { defineConfig } from "vitest/config";
import { longScenarios } from "./vitest.scenarios.config.ts";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "scripts/**/*.test.ts", "test/**/*.test.ts"],
    exclude: [
      "test/openstack/**",
      "test/faults/**",
      "test/programs/**",
      "test/hostile/**",
      "**/node_modules/**",
      ...longScenarios,
    ],
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
