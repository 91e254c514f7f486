import { defineConfig } from "vitest/config";

/** OpenStackDeployments on simulated clusters, and programs of their pods as processes, some with real servers. */
export default defineConfig({
  test: {
    include: [
      "test/operator/**/*.test.ts",
      "packages/openstack-operator/src/programs/**/*.test.ts",
      "packages/openstack-operator/src/**/*.real.test.ts",
    ],
    pool: "threads",
    isolate: false,
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 300_000,
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
