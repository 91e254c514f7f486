import { readdirSync } from "node:fs";
import { defineConfig } from "vitest/config";

/** CAUSEWAY_PROGRAMS_SHARE=K/N: one N-th of the files, the K-th. All of them by default. */
function share(): string[] {
  const dir = "test/programs";
  const files = readdirSync(dir).filter((name) => name.endsWith(".test.ts"));
  const [turn = 1, of = 1] = (process.env["CAUSEWAY_PROGRAMS_SHARE"] ?? "1/1").split("/").map(Number);
  return files
    .sort()
    .filter((_, index) => index % of === turn - 1)
    .map((name) => `${dir}/${name}`);
}

export default defineConfig({
  test: {
    include: share(),
    pool: "threads",
    isolate: false,
    fileParallelism: false,
    bail: 0,
    // A real server answers late at times, from caches of its own; what differs differs each time.
    retry: 2,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
