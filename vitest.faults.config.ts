import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/faults/**/*.test.ts"],
    pool: "threads",
    isolate: false,
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 300_000,
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
