import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/image/**/*.test.ts"],
    pool: "threads",
    testTimeout: 900_000,
    hookTimeout: 300_000,
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
