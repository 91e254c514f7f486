import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/contracts/kubernetes/**/*.contract.ts", "test/contracts/kubernetes/*.test.ts"],
    pool: "threads",
    isolate: false,
    fileParallelism: false,
    bail: 0,
    // A real server answers late at times, from caches of its own; what differs differs each time.
    retry: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
