import { defineConfig } from "vitest/config";
import { shareOf } from "./scripts/share.ts";

/** What plays a whole flow, or needs processes of its own and real time. `npm test` leaves these files out. */
export const scenarios = [
  "packages/*/src/**/scenarios/**/*.test.ts",
  "packages/*/src/**/scenario.test.ts",
  "test/scenarios/**/*.test.ts",
  "test/contracts/kubernetes/causeway-kubectl.test.ts",
];

export default defineConfig({
  test: {
    include: shareOf(scenarios),
    pool: "threads",
    isolate: false,
    // Node runs the sources as it does in use; nothing here needs them transformed, which took up to a third of the
    // time.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    maxWorkers: 2,
    // As in `npm test`. Files that run processes, wait in real time or play many schedules set a limit of their own.
    testTimeout: 60_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ["default", "./scripts/closing-line-reporter.ts"],
  },
});
