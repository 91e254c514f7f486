import { defineConfig } from "vitest/config";

/** CAUSEWAY_REAL_ONLY=1 leaves out our own API server, which `npm test` holds to the same cases. */
const ours = process.env["CAUSEWAY_REAL_ONLY"] === undefined ? ["test/contracts/kubernetes/*.test.ts"] : [];

export default defineConfig({
  test: {
    include: ["test/contracts/kubernetes/**/*.contract.ts", ...ours],
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
