import { defineConfig } from "vitest/config";
import { shareOf } from "./scripts/share.ts";

export default defineConfig({
  test: {
    include: shareOf("test/programs"),
    pool: "threads",
    isolate: false,
    // Node runs the sources as it does in use; transforming them took up to a third of the time.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    fileParallelism: false,
    bail: 0,
    // A real server answers late at times, from caches of its own; what differs differs each time.
    retry: 2,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
