import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "scripts/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["test/openstack/**", "test/faults/**", "test/programs/**", "**/node_modules/**"],
    pool: "threads",
    isolate: false,
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    reporters: ["default", "./scripts/closing-line-reporter.ts"],
  },
});
