import { defineConfig } from "vitest/config";
import { shareOf } from "./scripts/share.ts";

export default defineConfig({
  test: {
    include: shareOf("test/faults"),
    pool: "threads",
    isolate: false,
    // Node runs the sources as it does in use; nothing here needs them transformed.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 300_000,
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
