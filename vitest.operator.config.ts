import { defineConfig } from "vitest/config";

/** OpenStackDeployments on simulated clusters. */
export default defineConfig({
  test: {
    include: ["test/operator/**/*.test.ts"],
    pool: "threads",
    isolate: false,
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 300_000,
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
