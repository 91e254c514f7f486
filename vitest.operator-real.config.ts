import { defineConfig } from "vitest/config";

/** An OpenStackDeployment with real processes in real containers. */
export default defineConfig({
  test: {
    include: ["test/operator-real/**/*.test.ts"],
    pool: "threads",
    isolate: false,
    fileParallelism: false,
    // The tests of a file are one story: after a failure the rest would only wait.
    bail: 1,
    // A green run never waits so long: how fast the machine is must not decide.
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
