import { defineConfig } from "vitest/config";
import { shareOf } from "./scripts/share.ts";

export default defineConfig({
  test: {
    include: shareOf("test/openstack", ["demo.test.ts"]),
    pool: "threads",
    isolate: false,
    fileParallelism: false,
    bail: 0,
    // A green run never waits so long: how fast the machine is must not decide.
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    reporters: ["verbose", "./scripts/closing-line-reporter.ts"],
  },
});
