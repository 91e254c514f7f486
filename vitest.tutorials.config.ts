import { defineConfig } from "vitest/config";

/** The tutorials, command by command: `npm run test:tutorials`. */
export default defineConfig({
  test: {
    include: ["test/docs/**/*.docs.ts"],
    pool: "threads",
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 60_000,
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
