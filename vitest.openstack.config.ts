import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/openstack/**/*.test.ts"],
    pool: "threads",
    isolate: false,
    fileParallelism: false,
    bail: 0,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
