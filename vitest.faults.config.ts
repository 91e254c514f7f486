import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/faults/**/*.test.ts"],
    pool: "threads",
    isolate: false,
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 60_000,
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
