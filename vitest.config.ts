import { defineConfig } from "vitest/config";
import { scenarios } from "./vitest.scenarios.config.ts";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "scripts/**/*.test.ts", "test/**/*.test.ts"],
    exclude: [
      "test/openstack/**",
      "test/faults/**",
      "test/packages/**",
      "test/image/**",
      "test/programs/**",
      "test/hostile/**",
      "test/operator/**",
      "test/operator-real/**",
      "test/nodes/**",
      // Programs of pods as processes, some with real servers of MariaDB and Open vSwitch: npm run test:operator.
      "packages/openstack-operator/src/programs/**",
      "packages/openstack-operator/src/**/*.real.test.ts",
      "**/node_modules/**",
      ...scenarios,
    ],
    pool: "threads",
    isolate: false,
    // Node runs the sources as it does in use; nothing here needs them transformed, which took up to a third of the
    // time.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // More than a small machine has cores: while one worker waits for a process or a poll, another computes.
    maxWorkers: 4,
    // Twenty times what any test takes on an idle machine. Tests that take seconds there say so themselves.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ["default", "./scripts/closing-line-reporter.ts"],
  },
});
