import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/programs/**/*.test.ts"],
    pool: "threads",
    isolate: false,
    fileParallelism: false,
    bail: 0,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
