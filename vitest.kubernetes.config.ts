import { defineConfig } from "vitest/config";

/** Random operations on both servers are tried where CAUSEWAY_FUZZ_OPERATIONS says how many. */
const RANDOM =
  process.env["CAUSEWAY_FUZZ_OPERATIONS"] === undefined ? [] : ["test/contracts/kubernetes/differential/*.contract.ts"];

export default defineConfig({
  test: {
    include: ["test/contracts/kubernetes/*.contract.ts", "test/contracts/kubernetes/*.test.ts", ...RANDOM],
    pool: "threads",
    isolate: false,
    fileParallelism: false,
    bail: 0,
    // A real server answers late at times, from caches of its own; what differs differs each time.
    retry: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
