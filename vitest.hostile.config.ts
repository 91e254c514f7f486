import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/hostile/**/*.test.ts"],
    pool: "threads",
    isolate: false,
    fileParallelism: false,
    bail: 0,
    testTimeout: 400_000,
    hookTimeout: 300_000,
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
